"""One installation from its first start to its copy: the whole product, briefly."""
