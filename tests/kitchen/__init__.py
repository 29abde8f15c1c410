"""Tests of kitchen."""
