"""How many calls a business may place in a day, and how many it placed."""
