"""Quotes: the cost of a stay before it is booked."""
