"""Rate plans: the prices of nights, and the taxes on them."""
