"""Deposits: orders that are paid into an account of their own, which a provider watches."""
