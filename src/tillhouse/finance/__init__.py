"""The summary, transactions and expenses of a business: announced, and built later."""
