"""The numbers that wait for somebody, in one answer."""
