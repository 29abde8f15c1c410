"""Conversations: a script, its tools, and the log of its steps, which is the transcript."""
