"""Transfers between accounts, holds, transactions and debts, for sources of any type."""
