"""Tests of the developer portal."""
