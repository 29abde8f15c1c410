"""The tables below all features: their owners, and what deletes rows that outlive their use.

A room declares its own as `kept_tables` and `swept_tables`.
"""

# Table → the package that writes it. Facts, or a bounded number of rows for each fact.
KEPT = {
    "api_key_uses": "access",
    "audit_events": "access",
    "audit_heads": "access",
    "installation": "access",
    "schema_migrations": "db",
}
# Table → the package that writes it, and the chore that deletes its rows.
SWEPT = {
    "answer_storage": ("http", "answer_storage"),
    "attempt_cells": ("access", "logins"),
    "idempotency_keys": ("http", "idempotency_keys"),
    "jobs": ("jobs", "dead_jobs"),
    "login_failures": ("access", "logins"),
    "rate_cells": ("access", "rate_cells"),
    "sessions": ("access", "logins"),
    "usage_records": ("access", "usage_records"),
}
GROUND = KEPT | {table: package for table, (package, _) in SWEPT.items()}
