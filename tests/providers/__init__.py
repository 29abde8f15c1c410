"""Tests of the systems of others."""
