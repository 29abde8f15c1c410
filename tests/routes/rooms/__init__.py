"""The additions of each room: how to make what its paths name, bodies that its routes accept."""
