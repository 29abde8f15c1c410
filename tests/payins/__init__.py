"""Tests of money that comes in by providers."""
