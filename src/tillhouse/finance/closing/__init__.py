"""Closing of periods: what is dated within one changes no more."""
