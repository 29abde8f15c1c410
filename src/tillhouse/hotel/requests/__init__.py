"""Service requests: what guests ask for, and who sees to it."""
