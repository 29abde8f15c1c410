"""Payment providers in this process, which behave like their vendors, well or badly."""
