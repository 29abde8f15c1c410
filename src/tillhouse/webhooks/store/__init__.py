"""The statements of webhooks, a file per subject."""
