"""Transfers between accounts, transactions, debts."""
