"""Sales: the /v1/orders routes and what one order is."""
