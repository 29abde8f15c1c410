"""Tests of the HTTP room."""  # noqa: A005 - nothing here imports the standard one
