"""The wallet, and the money paid out of it: accounts, withdrawals, limits."""
