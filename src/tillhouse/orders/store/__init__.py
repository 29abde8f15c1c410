"""The statements of orders."""
