"""Pages of webhooks: endpoints, their deliveries, and how these are signed."""
