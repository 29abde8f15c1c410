"""What can be done with products, variants, categories and modifiers."""
