"""The viewer at /docs: pages for people, made from the OpenAPI document and the guides."""
