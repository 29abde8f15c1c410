"""Recording a sale: what it rests on, what is decided, and the one statement that writes it."""
