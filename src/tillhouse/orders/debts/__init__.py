"""Debts as programs read them: what customers have yet to pay for orders."""
