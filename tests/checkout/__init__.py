"""Tests of payment links and of the page that they lead to."""
