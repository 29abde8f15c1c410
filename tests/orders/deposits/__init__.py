"""Tests of orders.deposits."""
