"""Tests of the wallet and of what is paid out of it."""
