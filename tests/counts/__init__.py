"""Tests of the counts."""
