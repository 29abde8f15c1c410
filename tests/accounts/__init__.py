"""Tests of people and their businesses."""
