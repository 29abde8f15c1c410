"""Reconciliation: the ledger held against providers, orders, links and the wallet."""
