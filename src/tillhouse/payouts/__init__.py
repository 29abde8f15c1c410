"""The wallet, and what is paid out of it: announced, and built later."""
