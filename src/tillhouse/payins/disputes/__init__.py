"""Disputes: payments that payers' banks want back, as their providers tell of them."""
