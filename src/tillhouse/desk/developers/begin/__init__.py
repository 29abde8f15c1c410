"""The page of the first call: each step is ticked by what really happened."""
