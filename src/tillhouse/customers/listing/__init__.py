"""The list of customers."""
