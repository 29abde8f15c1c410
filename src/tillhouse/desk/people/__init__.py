"""The pages of the people of a business: who is in it, and what each may do."""
