"""Tests of the adapter of Twilio, against a simulator of it."""
