"""How many orders a book holds, and how large they are."""
