"""Statements on folios."""
