"""The books as they are read: accounts with their balances, and entries."""
