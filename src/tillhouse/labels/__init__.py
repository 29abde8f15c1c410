"""Tags and academic terms."""
