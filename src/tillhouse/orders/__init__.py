"""Sales: the routes of /v1/orders and /v1/debts, and all changes of an order."""
