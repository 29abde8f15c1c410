-- What a wallet didn't have of a dispute is taken as money comes in.
CREATE INDEX disputes_claimed ON disputes (book_id, id) WHERE claimed > 0;
