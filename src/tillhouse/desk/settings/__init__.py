"""Settings: the business, how it sells, its stores, tables, tags, terms and kitchen messages."""
