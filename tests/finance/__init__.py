"""Money as the business reads it."""
