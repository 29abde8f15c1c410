"""The switch that stops all withdrawals of a book, and its limit per day."""
