"""Payment links, and the page on which somebody pays."""
