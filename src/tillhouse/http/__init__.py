"""The only room that speaks ASGI: from the bytes of a request to the bytes of its answer."""
