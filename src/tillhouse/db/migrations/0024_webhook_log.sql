-- The delivery log by app or endpoint, with or without a type, and always by status: a list without
-- a status asks for each of the three. Four indexes where there were seven, and each filter, page
-- and time window has its own.
DROP INDEX webhook_deliveries_by_app;
DROP INDEX webhook_deliveries_by_endpoint;
DROP INDEX webhook_deliveries_by_type;
DROP INDEX webhook_deliveries_of_type;
DROP INDEX webhook_deliveries_to_recover;
DROP INDEX webhook_deliveries_undelivered;
DROP INDEX webhook_deliveries_undelivered_of_type;
CREATE INDEX webhook_deliveries_by_app ON webhook_deliveries (developer_app_id, status, id);
CREATE INDEX webhook_deliveries_by_app_and_type
    ON webhook_deliveries (developer_app_id, event_type, status, id);
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (webhook_endpoint_id, status, id);
CREATE INDEX webhook_deliveries_by_endpoint_and_type
    ON webhook_deliveries (webhook_endpoint_id, event_type, status, id);
