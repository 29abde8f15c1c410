"""The developer portal: apps, API keys, the audit log, usage."""
