"""Tests of the database: connections, migrations, backups, the embedded server."""
