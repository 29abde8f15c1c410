"""The summary, transactions, expenses and closed periods of a business, and reconciliation."""
