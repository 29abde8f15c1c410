"""Sessions in a browser: the cookie, forms, signing in and out, and what a page acts in."""
