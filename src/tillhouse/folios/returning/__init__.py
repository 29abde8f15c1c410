"""Money of stays that goes back through the provider by which it came."""
