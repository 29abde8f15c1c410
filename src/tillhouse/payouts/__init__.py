"""The wallet, and what is paid out of it: accounts, withdrawals, limits."""
