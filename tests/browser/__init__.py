"""The pages in a real browser: `make pages`. Not a part of the suite, which needs no network."""
