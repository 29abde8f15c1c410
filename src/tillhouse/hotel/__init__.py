"""Rooms, guests and their stays, and what guests ask for."""
