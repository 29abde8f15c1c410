"""Messages to and from customers, and the inbox of the members who answer."""
