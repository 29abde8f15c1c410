"""Transactions: money that moved, listed, asked about again, and put on a receipt."""
