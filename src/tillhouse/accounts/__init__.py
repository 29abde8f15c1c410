"""People and their businesses: registration, login, second factors, members."""
