"""Payment providers: the adapters, each against a simulator of its vendor."""
