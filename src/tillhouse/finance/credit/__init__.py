"""The credit of customers: money that they paid beyond their purchases."""
