"""Tests of the SIP user agent."""
