"""Money that comes in by providers: their connections, accounts to pay into, payments."""
