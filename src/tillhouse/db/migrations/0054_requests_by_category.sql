-- Service requests of a category, the newest first. The primary key lists all of them in the
-- same order as the index that goes.

CREATE INDEX hotel_service_requests_by_category ON hotel_service_requests (book_id, category, id);
DROP INDEX hotel_service_requests_in_order;
