"""Statements on promotions, a file per subject."""
