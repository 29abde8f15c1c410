"""The people of a business: invited, listed, given another role, removed."""
