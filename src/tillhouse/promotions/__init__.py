"""Promotions: discounts, their conditions, and the counts of their uses."""
