"""The books as they are read: accounts with what is on them, and entries."""
