-- People who were asked to join a business; one invitation of each address, the newest.
CREATE TABLE invitations (
    business_id uuid NOT NULL REFERENCES businesses,
    -- The token that is mailed is made of it, so a new invitation ends the one before.
    id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    invited_by uuid NOT NULL REFERENCES users,
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    PRIMARY KEY (business_id, id),
    CONSTRAINT invitations_of_an_address UNIQUE (business_id, email)
);
CREATE INDEX invitations_by_end ON invitations (expires_at);
