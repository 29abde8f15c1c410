"""Walks through everything that moves money, with crashes, held against a model in integers."""
