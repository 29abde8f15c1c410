"""Judges of the API's description: generators of clients, and programs that use what they make."""
