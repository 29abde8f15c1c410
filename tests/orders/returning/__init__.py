"""Tests of refunds that go back through the provider by which the money came."""
