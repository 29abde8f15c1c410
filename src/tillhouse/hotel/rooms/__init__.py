"""Room types and rooms."""
