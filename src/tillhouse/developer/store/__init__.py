"""The statements of the portal, a file per resource."""
