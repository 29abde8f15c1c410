"""Receipts of orders: kept once made, as a page, on A4, on a roll of 80 mm."""
