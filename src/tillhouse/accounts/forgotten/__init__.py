"""A forgotten password: a link by mail, good once and for a short while, sets another."""
