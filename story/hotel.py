"""A house with two rooms: what they cost, who stays there, and what guests ask for."""

from datetime import UTC, datetime, timedelta
from typing import Any

from story.story import NOBODY, Story

_BY = {"by": "reception"}
# Africa/Lagos, where the story plays, is so far ahead of UTC.
_EAST = timedelta(hours=1)


def house(s: Story) -> None:
    """Two kinds of room, and what a night costs."""
    s.chapter("2026-01-31T19:50:00Z")
    key = {"name": "Reception", "environment": "test", "scopes": ["hotel:read", "hotel:write"]}
    s.tokens["reception"] = s.sends("POST /api/developer/api-keys", key)["secret"]
    wanted = {"name": "Standard", "capacity": 2, "rate": 45000, "description": "To the garden."}
    s.known["room_type_id"] = s.sends("POST /v1/hotel/room-types", wanted, **_BY)["id"]
    s.sends("POST /v1/hotel/room-types", wanted, status=409, **_BY)
    suite = {"name": "Suite", "capacity": 4, "rate": 120000}
    other = s.sends("POST /v1/hotel/room-types", suite, **_BY)["id"]
    one = " /v1/hotel/room-types/{room_type_id}"
    s.sends("PATCH" + one, {"rate": 125000}, room_type_id=other, **_BY)
    s.sends("DELETE" + one, room_type_id=other, **_BY)
    s.sends("GET" + one, **_BY)
    s.sends("GET /v1/hotel/room-types", query={"page": 1, "limit": 10}, **_BY)
    _rooms(s)
    _plans(s)


def _rooms(s: Story) -> None:
    kind = s.known["room_type_id"]
    for number in ("101", "102"):
        room = {"room_type_id": kind, "number": number, "floor": "1"}
        s.known[f"room {number}"] = s.sends("POST /v1/hotel/rooms", room, **_BY)["id"]
    s.known["room_id"] = s.known["room 101"]
    s.sends("POST /v1/hotel/rooms", {"room_type_id": NOBODY, "number": ""}, status=422, **_BY)
    third = {"room_type_id": kind, "number": "103", "status": "out_of_service"}
    third_id = s.sends("POST /v1/hotel/rooms", third, **_BY)["id"]
    one = " /v1/hotel/rooms/{room_id}"
    s.sends("PATCH" + one, {"notes": "Being painted."}, room_id=third_id, **_BY)
    ready = {"status": "clean", "notes": None}
    s.sends("POST" + one + "/status", ready, room_id=third_id, **_BY)
    s.sends("POST" + one + "/status", {"status": "tidy"}, status=422, **_BY)
    s.sends("DELETE" + one, room_id=third_id, **_BY)
    s.sends("DELETE /v1/hotel/room-types/{room_type_id}", status=400, **_BY)


def _plans(s: Story) -> None:
    one = " /v1/hotel/rate-plans/{rate_plan_id}"
    wanted = {
        "room_type_id": s.known["room_type_id"],
        "name": "Breakfast included",
        "price": 50000,
        "taxes": [{"name": "VAT", "rate": 7.5}],
    }
    s.known["rate_plan_id"] = s.sends("POST /v1/hotel/rate-plans", wanted, **_BY)["id"]
    weekend = {**wanted, "name": "Weekend", "weekday_prices": {"friday": 60000, "saturday": 60000}}
    other = s.sends("POST /v1/hotel/rate-plans", weekend, **_BY)["id"]
    s.sends("PATCH" + one, {"weekday_prices": None}, rate_plan_id=other, **_BY)
    s.sends("DELETE" + one, rate_plan_id=other, **_BY)
    s.sends("GET" + one, **_BY)
    query = {"room_type_id": s.known["room_type_id"], "page": 1, "limit": 10}
    s.sends("GET /v1/hotel/rate-plans", query=query, **_BY)


def guests(s: Story) -> None:
    """Chidi stays for the first time."""
    s.chapter("2026-01-31T20:10:00Z")
    wanted = {
        "name": "Chidi Nwosu",
        "phone_number": "08030000077",
        "document_type": "passport",
        "document_number": "A01234567",
        "nationality": "NG",
    }
    s.known["guest_id"] = s.sends("POST /v1/hotel/guests", wanted, **_BY)["id"]
    s.sends("POST /v1/hotel/guests", wanted, status=409, **_BY)
    one = " /v1/hotel/guests/{guest_id}"
    s.sends("PATCH" + one, {"notes": "Likes a quiet room."}, **_BY)
    s.sends("GET" + one, **_BY)
    other = s.sends("POST /v1/hotel/guests", {"name": "Nobody Else"}, **_BY)
    query = {"search": "chid", "page": 1, "limit": 10}
    s.sends("GET /v1/hotel/guests", query=query, **_BY)
    s.sends("GET /v1/hotel/guests", query={"customer_id": other["customerId"]}, **_BY)
    s.sends("DELETE" + one, guest_id=other["id"], **_BY)


def booked(s: Story) -> None:
    """A stay that begins today, one that is cancelled, and one to which nobody came."""
    s.chapter("2026-01-31T20:20:00Z")
    stays, one = " /v1/hotel/reservations", " /v1/hotel/reservations/{reservation_id}"
    plan = {"rate_plan_id": s.known["rate_plan_id"], "deposit_amount": 50000, "adults": 2}
    keyed = {"headers": {"Idempotency-Key": "chidi-garden"}, **_BY}
    made = s.sends("POST" + stays, _stay(s, 0, 2, **plan), **keyed)
    s.known["reservation_id"] = made["id"]
    s.known["stay room_id"] = made["roomId"]
    wrong = {**_stay(s, 3, 1), "guest_id": NOBODY, "adults": 9}
    s.sends("POST" + stays, wrong, status=422, **_BY)
    s.sends("POST" + stays, _stay(s, 1, 3, room_id=made["roomId"]), status=400, **_BY)
    later = s.sends("POST" + stays, _stay(s, 7, 9), **_BY)["id"]
    s.sends("DELETE /v1/hotel/guests/{guest_id}", status=400, **_BY)
    s.sends("POST" + one + "/no-show", status=400, reservation_id=later, **_BY)
    s.sends("POST" + one + "/cancel", {"reason": "Another town"}, reservation_id=later, **_BY)
    s.sends("POST" + one + "/check-in", {}, **_BY)
    s.sends("POST" + one + "/check-in", {}, status=400, **_BY)
    s.sends("POST" + one + "/undo-check-in", **_BY)
    s.sends("POST" + one + "/undo-check-in", status=400, **_BY)
    s.sends("POST" + one + "/check-in", {}, **_BY)
    s.sends("POST" + one + "/cancel", {}, status=400, **_BY)
    _changed(s)
    late = s.sends("POST" + stays, _stay(s, 0, 1), **_BY)["id"]
    s.sends("POST" + one + "/no-show", reservation_id=late, **_BY)
    s.sends("POST" + one + "/reinstate", reservation_id=late, **_BY)
    s.sends("POST" + one + "/reinstate", status=400, reservation_id=late, **_BY)
    s.sends("POST" + one + "/no-show", reservation_id=late, **_BY)
    s.sends("GET" + one, **_BY)
    s.sends("GET" + stays, query={"status": "booked,checked_in", "page": 1, "limit": 10}, **_BY)
    query = {"search": "nwosu", "from": _day(0), "to": _day(9), "room_id": made["roomId"]}
    s.sends("GET" + stays, query={**query, "guest_id": s.known["guest_id"]}, **_BY)
    s.sends("GET" + stays, query={"group_id": NOBODY}, **_BY)
    leaving = {"status": "checked_in", "departs_from": _day(0), "departs_to": _day(2)}
    s.sends("GET" + stays, query=leaving, **_BY)
    s.sends("GET /v1/hotel/rooms/{room_id}", room_id=made["roomId"], **_BY)
    query = {"room_type_id": s.known["room_type_id"], "status": "clean", "page": 1, "limit": 10}
    s.sends("GET /v1/hotel/rooms", query=query, **_BY)


def _changed(s: Story) -> None:
    """Two rooms at once, other days, and another room."""
    one = " /v1/hotel/reservations/{reservation_id}"
    query = {"from": _day(19), "to": _day(22), "room_type_id": s.known["room_type_id"]}
    s.sends("GET /v1/hotel/availability", query=query, **_BY)
    query = {"from": _day(3), "to": _day(1)}
    s.sends("GET /v1/hotel/availability", query=query, status=422, **_BY)
    days = {"from": _day(20), "to": _day(22), "page": 1, "limit": 10}
    s.sends("GET /v1/hotel/quotes", query=days, **_BY)
    one_plan = {"rate_plan_id": s.known["rate_plan_id"], "room_type_id": s.known["room_type_id"]}
    s.sends("GET /v1/hotel/quotes", query={**days, **one_plan}, **_BY)
    s.sends("GET /v1/hotel/quotes", query=query, status=422, **_BY)
    group = "POST /v1/hotel/reservation-groups"
    rooms = [_stay(s, 20, 22), _stay(s, 20, 22)]
    keyed = {"headers": {"Idempotency-Key": "chidi-family"}, **_BY}
    made = s.sends(group, {"reservations": rooms}, **keyed)["reservations"]
    s.sends(group, {"reservations": rooms}, status=400, **_BY)
    s.sends(group, {"reservations": []}, status=422, **_BY)
    first, second = (room["id"] for room in made)
    s.sends("POST" + one + "/cancel", {}, reservation_id=second, **_BY)
    wanted = {"check_out_date": _day(23), "notes": "One night more"}
    s.sends("PATCH" + one, wanted, reservation_id=first, **_BY)
    s.sends("PATCH" + one, {"adults": 9}, status=422, reservation_id=first, **_BY)
    s.sends("PATCH" + one, {"deposit_amount": 20000}, reservation_id=first, **_BY)
    unknown = {"guest_id": NOBODY, "rate_plan_id": NOBODY}
    s.sends("PATCH" + one, unknown, status=422, reservation_id=first, **_BY)
    rooms_left = {s.known["room 101"], s.known["room 102"]} - {made[0]["roomId"]}
    move = {"room_id": rooms_left.pop(), "reason": "A quiet room"}
    s.sends("POST" + one + "/move", move, reservation_id=first, **_BY)
    s.sends("POST" + one + "/move", move, status=400, reservation_id=first, **_BY)
    s.sends("POST" + one + "/move", {"room_id": NOBODY}, status=422, **_BY)
    s.sends("POST" + one + "/cancel", {}, reservation_id=first, **_BY)


def requests(s: Story) -> None:
    """Chidi wants towels, and the tap of the other room drips."""
    s.chapter("2026-01-31T20:30:00Z")
    all_of_them = " /v1/hotel/service-requests"
    one = all_of_them + "/{service_request_id}"
    room_id = s.known["stay room_id"]
    wanted = {"category": "housekeeping", "description": "Two more towels.", "source": "message"}
    keyed = {"headers": {"Idempotency-Key": "towels"}, **_BY}
    made = s.sends("POST" + all_of_them, {**wanted, "room_id": room_id}, **keyed)
    s.known["service_request_id"] = made["id"]
    s.sends("POST" + all_of_them, {"category": "food"}, status=422, **_BY)
    s.sends("POST" + all_of_them, {**wanted, "reservation_id": NOBODY}, status=422, **_BY)
    s.sends("PATCH" + one, {"assignee_id": NOBODY}, status=422, **_BY)
    s.sends("PATCH" + one, {"status": "in_progress"}, **_BY)
    s.sends("PATCH" + one, {"status": "done"}, **_BY)
    s.sends("PATCH" + one, {"status": "cancelled"}, status=400, **_BY)
    s.sends("GET" + one, **_BY)
    query = {"status": "done", "category": "housekeeping", "room_id": room_id}
    stay = {"reservation_id": s.known["reservation_id"], "page": 1, "limit": 10}
    s.sends("GET" + all_of_them, query={**query, **stay}, **_BY)
    s.sends("GET" + all_of_them, query={"assignee_id": NOBODY}, **_BY)


def _stay(s: Story, begins: int, ends: int, **fields: Any) -> dict[str, Any]:
    return {
        "room_type_id": s.known["room_type_id"],
        "guest_id": s.known["guest_id"],
        "check_in_date": _day(begins),
        "check_out_date": _day(ends),
        **fields,
    }


def _day(ahead: int) -> str:
    """A day so far from today, where the house stands."""
    return ((datetime.now(UTC) + _EAST).date() + timedelta(days=ahead)).isoformat()
