"""What is sold and where: products, stock, promotions, places."""
