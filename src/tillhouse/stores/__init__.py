"""Stores and the staff of the business."""
