"""Speed, always as a ratio against something simpler in the same run: `make bench`."""
