"""The client of mail servers."""
