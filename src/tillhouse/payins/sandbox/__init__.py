"""The provider of test books: it moves no money, and does what amounts tell it to."""
