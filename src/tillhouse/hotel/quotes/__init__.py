"""Quotes: what a stay would cost, before anybody books it."""
