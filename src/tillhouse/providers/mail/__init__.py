"""Mail to people: the server that takes it, and the form of a message."""
