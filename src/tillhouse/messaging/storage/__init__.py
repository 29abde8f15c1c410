"""How many messages a book holds, how large they are, and how much of it waits."""
