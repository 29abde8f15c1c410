"""The first steps of a business."""
