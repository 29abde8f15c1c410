"""The reference: what describes the API to programs and to people."""
