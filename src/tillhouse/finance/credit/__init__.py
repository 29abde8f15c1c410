"""The credit of customers: what they paid beyond what they bought."""
