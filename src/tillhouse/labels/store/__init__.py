"""The statements on tags and terms."""
