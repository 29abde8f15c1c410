"""Requests to other people's models and speech engines, bounded in time and bytes."""
