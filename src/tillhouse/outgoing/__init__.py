"""Requests to servers of others: addresses checked where they are dialled, answers bounded."""
