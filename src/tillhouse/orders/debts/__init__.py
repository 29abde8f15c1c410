"""Debts as programs read them: amounts that customers have yet to pay for orders."""
