"""The folio of a stay: payments, the night audit, and the day on which the guest leaves."""

from story.story import NOBODY, Story

_BY = {"by": "reception"}
_STAY = " /v1/hotel/reservations/{reservation_id}"


def folio(s: Story) -> None:
    """A deposit, a part of it handed back, and the settings of the house."""
    s.chapter("2026-01-31T20:40:00Z")
    deposit = {"amount": 30000, "method": "transfer", "reference": "TRF-88120"}
    keyed = {"headers": {"Idempotency-Key": "chidi-deposit"}, **_BY}
    s.sends("POST" + _STAY + "/payments", deposit, **keyed)
    wrong = {"amount": 0.001, "method": "credit"}
    s.sends("POST" + _STAY + "/payments", wrong, status=422, **_BY)
    s.sends("POST" + _STAY + "/payments", deposit, status=404, reservation_id=NOBODY, **_BY)
    much = {"amount": 30001, "method": "cash"}
    s.sends("POST" + _STAY + "/refunds", much, status=400, **_BY)
    back = {"amount": 5000, "method": "cash", "reason": "Paid twice"}
    s.sends("POST" + _STAY + "/refunds", back, **_BY)
    s.sends("GET" + _STAY + "/folio", **_BY)
    s.sends("POST" + _STAY + "/bill", {}, **_BY)
    s.sends("GET /v1/hotel/settings", **_BY)
    s.sends("PATCH /v1/hotel/settings", {"audit_time": "02:30", "no_show": "keep"}, **_BY)
    s.sends("PATCH /v1/hotel/settings", {"audit_time": "14:00"}, status=422, **_BY)
    # It is the first evening: no night is over.
    s.sends("POST /v1/hotel/audits", {}, **_BY)
    s.sends("GET /v1/hotel/audits", query={"page": 1, "limit": 10}, **_BY)


def departure(s: Story) -> None:
    """Chidi leaves early: what he owes for the night is paid another day."""
    s.chapter("2026-01-31T21:50:00Z")
    s.sends("POST" + _STAY + "/check-out", {}, status=400, **_BY)
    s.sends("POST" + _STAY + "/check-out", {"leave_as_debt": True}, **_BY)
    s.sends("POST" + _STAY + "/check-out", {}, status=400, **_BY)
