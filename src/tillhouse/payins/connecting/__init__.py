"""Payment providers: connected, checked, selected."""
