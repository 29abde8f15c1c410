"""Receipts of transactions: pages and files at signed addresses."""
