"""The tests: mostly through the API, on a real PostgreSQL."""
