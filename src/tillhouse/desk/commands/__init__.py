"""Commands: the calls that a page made, with a key of the business in them."""
