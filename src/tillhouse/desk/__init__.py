"""The desk: the pages that people work with. They call operations, and own no rule and no SQL."""
