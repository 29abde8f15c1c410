"""The actions on products, variants, categories and modifiers."""
