"""Stores, staff, tables and their sessions, academic terms, tags."""
