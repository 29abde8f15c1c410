"""Decisions about new orders: pure functions of facts and time."""
