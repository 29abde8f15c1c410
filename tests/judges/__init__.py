"""Clients and generators of others, run against the product and its simulators."""
