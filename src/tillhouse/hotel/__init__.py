"""Rooms, guests, their stays, and service requests."""
