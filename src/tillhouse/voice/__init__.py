"""Voice calls by AI agents."""
