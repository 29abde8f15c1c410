"""The postings of orders: what their changes move in the ledger, and the proof of it."""
