"""Pages for developers: API keys, webhooks, events, logs and usage."""
