"""Closing of periods: a figure of a closed period changes no more."""
