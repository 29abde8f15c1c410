"""Who calls, for which business, and what they may do."""
