"""Connections: the other systems that a business works with."""
