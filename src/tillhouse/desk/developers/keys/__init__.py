"""Pages of API keys and of the apps that they belong to."""
