"""Money as the business reads it: summary, transactions, expenses, books; reconciliation."""
