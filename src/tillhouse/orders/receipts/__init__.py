"""How receipts look: on a page, on A4, on a roll of 80 mm."""
