"""Lists of orders with the figures beside them."""
