"""The facts that the generated tests need about the routes of the hotel."""

import secrets
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.make import Business

_HOTEL = "/v1/hotel"
_ID = "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"


def day(ahead: int) -> str:
    """A day so far from today; a business of these tests has UTC."""
    return (datetime.now(UTC).date() + timedelta(days=ahead)).isoformat()


def _type() -> dict[str, Any]:
    return {"name": f"Type {secrets.token_hex(4)}", "capacity": 2, "rate": 100}


async def make_type(business: Business, environment: str) -> str:
    """A room type."""
    return (await business.made(f"{_HOTEL}/room-types", _type(), environment))["id"]


async def make_room(business: Business, environment: str) -> str:
    """A room of a type of its own."""
    body = {"room_type_id": await make_type(business, environment), "number": secrets.token_hex(4)}
    return (await business.made(f"{_HOTEL}/rooms", body, environment))["id"]


async def _make_plan(business: Business, environment: str) -> str:
    body = {"room_type_id": await make_type(business, environment), "name": "Flex", "price": 90}
    return (await business.made(f"{_HOTEL}/rate-plans", body, environment))["id"]


async def _make_guest(business: Business, environment: str) -> str:
    body = {"name": f"Guest {secrets.token_hex(4)}"}
    return (await business.made(f"{_HOTEL}/guests", body, environment))["id"]


async def _stay(business: Business, environment: str = "test") -> dict[str, Any]:
    return {
        "room_id": await make_room(business, environment),
        "guest_id": await _make_guest(business, environment),
        "check_in_date": day(0),
        "check_out_date": day(2),
    }


async def make_reservation(business: Business, environment: str) -> str:
    """A stay that begins today."""
    body = await _stay(business, environment)
    return (await business.made(f"{_HOTEL}/reservations", body, environment))["id"]


async def _new_room(business: Business) -> dict[str, Any]:
    return {"room_type_id": await make_type(business, "test"), "number": secrets.token_hex(4)}


async def _new_plan(business: Business) -> dict[str, Any]:
    return {"room_type_id": await make_type(business, "test"), "name": "Flex", "price": 90.5}


async def _other_room(business: Business) -> dict[str, Any]:
    return {"room_id": await make_room(business, "test"), "reason": "Too loud"}


async def _group(business: Business) -> dict[str, Any]:
    return {"reservations": [await _stay(business)]}


async def _make_request(business: Business, environment: str) -> str:
    body = {"category": "housekeeping", "room_id": await make_room(business, environment)}
    return (await business.made(f"{_HOTEL}/service-requests", body, environment))["id"]


async def _new_request(business: Business) -> dict[str, Any]:
    return {"category": "food", "guest_id": await _make_guest(business, "test")}


def _remover(path: str) -> Callable[[Business, str], Awaitable[None]]:
    async def remove(business: Business, thing_id: str) -> None:
        headers = {"service-environment": "test"}
        await business.owner.delete(f"{_HOTEL}/{path}/{thing_id}", headers=headers, status=200)

    return remove


async def _make_no_show(business: Business, environment: str) -> str:
    """A stay to which nobody came."""
    stay_id = await make_reservation(business, environment)
    headers = {"service-environment": environment}
    path = f"{_HOTEL}/reservations/{stay_id}/no-show"
    await business.owner.post(path, headers=headers, status=200)
    return stay_id


OWN_MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    f"POST {_HOTEL}/reservations/{{reservation_id}}/reinstate": _make_no_show,
}
# Reservations and service requests stay for ever, so they have no remover.
MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    "room_type_id": make_type,
    "room_id": make_room,
    "rate_plan_id": _make_plan,
    "guest_id": _make_guest,
    "reservation_id": make_reservation,
    "service_request_id": _make_request,
}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {
    "room_type_id": _remover("room-types"),
    "room_id": _remover("rooms"),
    "rate_plan_id": _remover("rate-plans"),
    "guest_id": _remover("guests"),
}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    f"POST {_HOTEL}/room-types": lambda _: _type(),
    f"PATCH {_HOTEL}/room-types/{{room_type_id}}": lambda _: {"rate": 120.5},
    f"PATCH {_HOTEL}/rooms/{{room_id}}": lambda _: {"status": "dirty"},
    f"POST {_HOTEL}/rooms/{{room_id}}/status": lambda _: {"status": "dirty"},
    f"PATCH {_HOTEL}/rate-plans/{{rate_plan_id}}": lambda _: {"price": 95.5},
    f"POST {_HOTEL}/guests": lambda _: {"name": f"Guest {secrets.token_hex(4)}"},
    f"PATCH {_HOTEL}/guests/{{guest_id}}": lambda _: {"name": "Somebody Else"},
    f"PATCH {_HOTEL}/reservations/{{reservation_id}}": lambda _: {"check_out_date": day(3)},
    f"POST {_HOTEL}/reservations/{{reservation_id}}/check-in": lambda _: {},
    f"POST {_HOTEL}/reservations/{{reservation_id}}/cancel": lambda _: {"reason": "Ill"},
    f"PATCH {_HOTEL}/service-requests/{{service_request_id}}": lambda _: {"status": "in_progress"},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {
    f"POST {_HOTEL}/rooms": _new_room,
    f"POST {_HOTEL}/rate-plans": _new_plan,
    f"POST {_HOTEL}/reservations": _stay,
    f"POST {_HOTEL}/reservations/{{reservation_id}}/move": _other_room,
    f"POST {_HOTEL}/reservation-groups": _group,
    f"POST {_HOTEL}/service-requests": _new_request,
}
# Bodies that differ from the one that passes, where another `name` would be no field.
OTHER_BODIES: dict[str, dict[str, Any]] = {
    f"POST {_HOTEL}/rooms": {"room_type_id": _ID, "number": "7"},
    f"POST {_HOTEL}/rooms/{{room_id}}/status": {"status": "clean"},
    f"POST {_HOTEL}/reservations": {
        "room_type_id": _ID, "guest_id": _ID, "check_in_date": day(1), "check_out_date": day(2),
    },
    f"POST {_HOTEL}/reservations/{{reservation_id}}/move": {"room_id": _ID},
    f"POST {_HOTEL}/reservation-groups": {"reservations": [
        {"room_id": _ID, "guest_id": _ID, "check_in_date": day(1), "check_out_date": day(2)},
    ]},
    f"POST {_HOTEL}/reservations/{{reservation_id}}/check-in": {"allow_dirty": True},
    f"POST {_HOTEL}/reservations/{{reservation_id}}/cancel": {"reason": "Well again"},
    f"POST {_HOTEL}/service-requests": {"category": "laundry", "room_id": _ID},
}  # fmt: skip
