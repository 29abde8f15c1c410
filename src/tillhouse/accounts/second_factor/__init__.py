"""The second factor of a person: codes that an application makes, beside the password."""
