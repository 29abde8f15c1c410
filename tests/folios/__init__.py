"""Tests of what stays owe and what is paid for them."""
