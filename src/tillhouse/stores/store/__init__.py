"""The statements on stores and staff."""
