"""Tests generated from the route table."""
