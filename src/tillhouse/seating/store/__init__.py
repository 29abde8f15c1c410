"""The statements on tables and sessions."""
