"""Bills of stays: pages and files at signed addresses."""
