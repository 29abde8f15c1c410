"""Recordings: written while talking, fetched by addresses that expire, deleted in time."""
