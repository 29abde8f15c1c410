"""Other people's systems, each behind one Protocol: a sandbox and the real ones."""
