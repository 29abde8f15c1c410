"""Statements on stock, a file per subject."""
