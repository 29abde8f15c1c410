"""Numbers that calls come from."""
