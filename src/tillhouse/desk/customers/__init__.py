"""Customers: who somebody is, and how they and the business stand."""
