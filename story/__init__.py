"""The story of one shop, played through the API and recorded: development only, never shipped.

The recording gives the reference its examples, and `tests/wire` compares every answer with it.
"""
