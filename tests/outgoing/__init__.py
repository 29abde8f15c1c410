"""Tests of requests to servers of others."""
