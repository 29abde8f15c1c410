"""The SQL of the product as PostgreSQL sees it; `make docs` writes out the hot statements."""
