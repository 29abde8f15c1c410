"""Tillhouse: the business platform that a business hosts itself."""

__version__ = "0.1.0"
