-- When the present failures of an endpoint began: null while its last attempt succeeded. One that
-- fails already counts from the migration on.
ALTER TABLE webhook_endpoints ADD COLUMN first_failed_at timestamptz(3);
UPDATE webhook_endpoints SET first_failed_at = now() WHERE failure_count > 0;
