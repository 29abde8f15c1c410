"""Pages of what happened: events, usage and the audit log."""
