"""Judges of the payment simulators: the vendors' own clients and papers."""
