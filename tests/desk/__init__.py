"""The pages that people work with, by plain HTTP as a browser without scripts asks for them."""
