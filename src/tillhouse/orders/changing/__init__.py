"""Changing an order: patch, confirm, delete."""
