"""Calls by Twilio: its REST API, its callbacks, and Media Streams for the sound."""
