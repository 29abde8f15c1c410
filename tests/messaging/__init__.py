"""Tests of messaging."""
