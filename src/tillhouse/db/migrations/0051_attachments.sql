-- Files that customers send, and are sent.

CREATE TABLE messaging_attachments (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    kind text CONSTRAINT messaging_attachments_kind_known
        CHECK (kind IN ('image', 'audio', 'video', 'document', 'sticker')),
    -- uploading: its address was given out; fetching: it lies at the provider.
    status text NOT NULL CONSTRAINT messaging_attachments_status_known
        CHECK (status IN ('uploading', 'fetching', 'ready', 'failed')),
    filename text,
    -- As its content says, whatever its name is.
    content_type text,
    size_bytes integer,
    sha256 bytea,
    content bytea,
    error text,
    -- Where it is fetched from.
    number_id uuid,
    provider_media_id text,
    provider_sha256 text,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, number_id) REFERENCES messaging_numbers (book_id, id),
    CONSTRAINT messaging_attachments_ready_with_content CHECK ((status = 'ready') =
        (content IS NOT NULL AND kind IS NOT NULL AND content_type IS NOT NULL
            AND size_bytes IS NOT NULL AND sha256 IS NOT NULL))
);
CREATE INDEX messaging_attachments_uploading ON messaging_attachments (created_at)
    WHERE status = 'uploading';

-- How many files a book holds, and their bytes.
CREATE TABLE messaging_storage (
    book_id uuid PRIMARY KEY REFERENCES books,
    attachments bigint NOT NULL,
    bytes bigint NOT NULL
);

ALTER TABLE messages ADD COLUMN attachment_id uuid,
    ADD FOREIGN KEY (book_id, attachment_id) REFERENCES messaging_attachments (book_id, id);
