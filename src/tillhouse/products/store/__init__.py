"""Statements on products, variants, categories and modifiers."""
