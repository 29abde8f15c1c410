"""Orders and the kitchen."""
