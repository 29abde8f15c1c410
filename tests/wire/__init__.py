"""The answers of the API on the wire, compared with a recording."""
