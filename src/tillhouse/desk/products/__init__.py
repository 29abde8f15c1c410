"""Goods: products with their variants and choices, stock, and promotions."""
