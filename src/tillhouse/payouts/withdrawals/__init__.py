"""Withdrawals: money that leaves the wallet, once."""
