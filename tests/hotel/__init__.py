"""Tests of the hotel."""
