"""A new sale: what it is of, and recording it."""
