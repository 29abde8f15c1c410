"""Statements of this room, a file for each kind of place."""
