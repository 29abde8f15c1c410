"""The summary of a day or a period."""
