"""Stays, guests and what they ask for: announced, and built later."""
