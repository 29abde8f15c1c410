"""Reservations, from booking to leaving."""
