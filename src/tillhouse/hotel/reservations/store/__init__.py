"""The statements on reservations."""
