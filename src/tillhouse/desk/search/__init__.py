"""Going somewhere: the palette, by words, codes and ids, and the table of keys."""
