"""Promotions: who gets how much off, and how often."""
