"""Service requests: the wishes of guests, and the members who see to them."""
