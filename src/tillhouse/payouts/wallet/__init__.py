"""The wallet: what is in it, and how it came to that."""
