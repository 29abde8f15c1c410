"""What the API answers on the wire, compared with a recording."""
