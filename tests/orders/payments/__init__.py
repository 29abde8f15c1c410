"""Tests of orders.payments and orders.refunds."""
