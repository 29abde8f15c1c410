"""Statements on calls."""
