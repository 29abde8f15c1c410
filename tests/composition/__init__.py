"""How rooms become one product."""
