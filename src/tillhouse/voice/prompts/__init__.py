"""Sound that agents play at steps of their scripts, in the place of an engine that speaks."""
