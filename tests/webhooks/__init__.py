"""Outbound webhooks: endpoints, deliveries, the sender, and receivers that mean harm."""
