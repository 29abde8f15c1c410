"""Finance: the money that came in and went out."""
