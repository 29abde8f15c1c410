-- A search finds words of what was written.
CREATE INDEX messages_by_word ON messages USING gin (customer_words(book_id, text));
