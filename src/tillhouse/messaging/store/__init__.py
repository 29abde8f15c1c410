"""Statements of messaging, by what they are on."""
