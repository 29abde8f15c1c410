"""Kitchen tickets, and the messages to customers about their stages."""
