"""Tests of orders.posting."""
