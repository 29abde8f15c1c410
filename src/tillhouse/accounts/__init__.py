"""People and their businesses: registration, login, sessions, members."""
