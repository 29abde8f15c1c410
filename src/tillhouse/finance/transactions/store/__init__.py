"""The statements of lists of transactions."""
