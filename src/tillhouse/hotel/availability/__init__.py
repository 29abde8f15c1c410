"""The rooms that are free, night by night."""
