"""Tests of telephony providers."""
