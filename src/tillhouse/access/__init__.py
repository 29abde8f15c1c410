"""Authentication and authorisation: callers, keys, sessions, scopes, roles."""
