"""Tests of reconciliations."""
