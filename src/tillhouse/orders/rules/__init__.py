"""Decisions about orders: pure functions of facts and time."""
