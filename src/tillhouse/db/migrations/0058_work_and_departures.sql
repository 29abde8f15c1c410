-- Service requests that somebody sees to, and stays by the day on which they end.

CREATE INDEX hotel_service_requests_of_assignee ON hotel_service_requests (book_id, assigned_to, id)
    WHERE assigned_to IS NOT NULL;
CREATE INDEX hotel_reservations_by_departure ON hotel_reservations (book_id, check_out_on, id);
