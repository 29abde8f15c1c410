"""Payment links: announced, and built later."""
