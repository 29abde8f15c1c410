"""The statements of payment links."""
