"""The statements of withdrawals, a file per concern."""
