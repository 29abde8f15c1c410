"""The statements of the ledger, a file per concern."""
