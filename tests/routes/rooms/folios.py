"""The facts that the generated tests need about the routes of folios and audits."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business
from tests.routes.rooms.hotel import day, make_room

_HOTEL = "/v1/hotel"
_STAY = f"{_HOTEL}/reservations/{{reservation_id}}"
_PAYMENT = {"amount": 20.5, "method": "cash"}


async def _stay(business: Business, environment: str, **fields: Any) -> str:
    body = {
        "room_id": await make_room(business, environment),
        "guest": {"name": "Chinedu Eze"},
        "check_in_date": day(0),
        "check_out_date": day(2),
        **fields,
    }
    return (await business.made(f"{_HOTEL}/reservations", body, environment))["id"]


async def _make_paid(business: Business, environment: str) -> str:
    """A stay with a deposit."""
    stay_id = await _stay(business, environment)
    path = f"{_HOTEL}/reservations/{stay_id}/payments"
    await business.made(path, {"amount": 50, "method": "cash"}, environment)
    return stay_id


async def _make_guest_in(business: Business, environment: str) -> str:
    """A stay whose guest is in the house."""
    return await _stay(business, environment, check_in=True)


OWN_MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    f"POST {_STAY}/refunds": _make_paid,
    f"POST {_STAY}/check-out": _make_guest_in,
    f"POST {_STAY}/undo-check-in": _make_guest_in,
}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    f"POST {_STAY}/payments": lambda _: dict(_PAYMENT),
    f"POST {_STAY}/refunds": lambda _: {"amount": 10.5, "method": "cash"},
    f"POST {_STAY}/check-out": lambda _: {"leave_as_debt": True},
    f"PATCH {_HOTEL}/settings": lambda _: {"audit_time": "04:00"},
}
OTHER_BODIES: dict[str, dict[str, Any]] = {
    f"POST {_STAY}/payments": {"amount": 30, "method": "cash"},
    f"POST {_STAY}/refunds": {"amount": 1, "method": "cash"},
    f"POST {_STAY}/check-out": {"leave_as_debt": False},
}
