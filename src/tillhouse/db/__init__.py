"""PostgreSQL: connections, transactions, migrations, the embedded server."""
