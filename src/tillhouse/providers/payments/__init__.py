"""Payment providers: the Protocol that all of them speak, and an adapter for each."""
