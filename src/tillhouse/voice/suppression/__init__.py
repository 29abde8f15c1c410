"""The people who are not called."""
