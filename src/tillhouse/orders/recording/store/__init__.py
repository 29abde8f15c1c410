"""The statements of recording."""
