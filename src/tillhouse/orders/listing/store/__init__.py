"""The statements of lists."""
