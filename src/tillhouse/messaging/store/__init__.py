"""Statements of messaging, a file per subject."""
