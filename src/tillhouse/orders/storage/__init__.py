"""The storage of orders: their number and bytes in each book, and the quota of both."""
