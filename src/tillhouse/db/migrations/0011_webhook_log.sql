-- The delivery log by whatever it is filtered: an index for each way in, so that a list reads what
-- it shows, however long the log is and however rare what is looked for.

-- By app: a book is read app by app, of which it has few.
CREATE INDEX webhook_deliveries_by_app ON webhook_deliveries (developer_app_id, id);
DROP INDEX webhook_deliveries_by_type;
CREATE INDEX webhook_deliveries_by_type ON webhook_deliveries (event_type, developer_app_id, id);
DROP INDEX webhook_deliveries_undelivered;
CREATE INDEX webhook_deliveries_undelivered
    ON webhook_deliveries (status, developer_app_id, id) WHERE status <> 'delivered';
CREATE INDEX webhook_deliveries_undelivered_of_type
    ON webhook_deliveries (event_type, status, developer_app_id, id) WHERE status <> 'delivered';

-- By endpoint, which may get none of a type, and may never fail.
CREATE INDEX webhook_deliveries_of_type
    ON webhook_deliveries (webhook_endpoint_id, event_type, id);
CREATE INDEX webhook_deliveries_to_recover
    ON webhook_deliveries (webhook_endpoint_id, status, id) WHERE status <> 'delivered';
