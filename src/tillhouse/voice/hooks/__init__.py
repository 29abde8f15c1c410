"""Callbacks of providers, on their way to the process that makes the call."""
