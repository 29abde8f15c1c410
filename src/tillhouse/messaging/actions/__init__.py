"""What messaging does, by what it is done to."""
