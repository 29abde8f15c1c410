"""Clients and generators of others: `make judge` and `make vendors` by hand."""
