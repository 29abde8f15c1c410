"""Payout accounts: the bank accounts of the business that its money can go to."""
