-- Orders show the name of a customer who was deleted as well: a search of orders finds it.
DROP INDEX customers_by_word;
CREATE INDEX customers_by_word ON customers USING gin (customer_words(book_id, name));
