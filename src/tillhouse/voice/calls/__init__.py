"""Calls: placed, listed, shown and cancelled."""
