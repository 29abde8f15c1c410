"""Payments of orders: each money that came in, by which tender, with its tip and its change."""
