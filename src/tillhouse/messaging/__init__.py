"""Messages to and from customers."""
