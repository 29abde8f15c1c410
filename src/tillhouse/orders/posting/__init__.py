"""The postings of orders: the transfers of their changes, and the proof of them."""
