"""Expenses: money that the business spends."""
