"""Products, variants, modifiers, categories, prices."""
