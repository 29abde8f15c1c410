"""The wallet: its balance, and the transfers that made it."""
