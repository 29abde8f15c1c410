"""Telephone lines: a simulator and others, behind one Protocol."""
