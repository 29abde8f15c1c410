"""Statements of the dispatcher."""
