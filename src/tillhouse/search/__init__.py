"""One search over orders, customers, products and other things, in one answer."""
