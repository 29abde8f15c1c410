"""The story that the examples of the API tell: a shop, a sale, and what each answer says."""
