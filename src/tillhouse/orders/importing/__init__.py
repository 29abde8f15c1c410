"""Orders from files."""
