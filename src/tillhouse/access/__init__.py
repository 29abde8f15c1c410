"""Callers and their rights: keys, sessions, scopes, roles; audit, vault, usage, quotas."""
