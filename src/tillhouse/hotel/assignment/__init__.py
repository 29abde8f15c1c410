"""Which room each stay of a type has, and how bookings change rooms to make one free."""
