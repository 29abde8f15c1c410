"""The worker that sends: claim a batch, attempt, record a batch."""
