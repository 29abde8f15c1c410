"""The provider of test books: it moves no money, and amounts decide its answers."""
