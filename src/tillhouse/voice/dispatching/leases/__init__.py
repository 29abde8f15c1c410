"""Leases: the calls that a dispatcher holds."""
