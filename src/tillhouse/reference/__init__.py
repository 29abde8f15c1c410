"""The reference: the OpenAPI document for programs, and its pages for people."""
