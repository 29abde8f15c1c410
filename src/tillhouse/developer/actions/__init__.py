"""The verbs of the portal, a file per resource."""
