"""Statements on connections, accounts, events and payins."""
