"""Outbound webhooks: catalogue, emit, endpoints, secrets, deliveries, sender; knows no feature."""
