"""How much there is, per variant and store, and every move of it."""
