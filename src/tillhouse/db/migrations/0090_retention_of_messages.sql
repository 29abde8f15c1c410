-- The messages that name a file: looked for before the file is forgotten.
CREATE INDEX messages_by_attachment ON messages (book_id, attachment_id)
    WHERE attachment_id IS NOT NULL;
