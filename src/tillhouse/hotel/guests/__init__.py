"""Guests: customers who stay."""
