"""The house rules as tests: each failure says what the rule is and where it is broken."""
