"""Folios: nights and other charges of a stay, its payments, check-out and the night audit."""
