"""Orders: who still owes, what happened to one, and what goes back."""
