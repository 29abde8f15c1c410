"""The verbs of webhooks, a file per resource."""
