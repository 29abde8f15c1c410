"""Tests of products."""
