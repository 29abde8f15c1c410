"""Kitchen tickets and what customers hear of their stages."""
