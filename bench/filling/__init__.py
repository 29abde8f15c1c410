"""Fills the demo business's test book with years of believable sales, by COPY."""
