"""People who buy; one phone number, one customer per book."""
