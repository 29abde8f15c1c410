"""Tables and the sessions of guests at them."""
