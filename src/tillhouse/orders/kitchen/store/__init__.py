"""The statements about orders that the kitchen needs."""
