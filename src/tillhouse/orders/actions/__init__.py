"""What can be done with orders."""
