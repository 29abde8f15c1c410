"""A hotel through the API: its rooms, guests and stays, and what was told of them."""

import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.api import Api, Response
from tests.make import Business

HOTEL = "/v1/hotel"
STAYS = f"{HOTEL}/reservations"


def day(ahead: int) -> str:
    """A day so far from today; the business has UTC."""
    return (datetime.now(UTC).date() + timedelta(days=ahead)).isoformat()


def dated(text: str) -> str:
    """The text with each `day:3` as the day in three days.

    Cases of a test are written before its run begins, which may be on the day before.
    """
    return re.sub(r"day:(-?\d+)", lambda found: day(int(found[1])), text)


def dated_body(body: dict[str, Any]) -> dict[str, Any]:
    """The body with the days in its texts."""
    return {name: dated(one) if isinstance(one, str) else one for name, one in body.items()}


class House:
    """A hotel of the test book, with one room type to begin with."""

    def __init__(self, business: Business, api: Api, room_type_id: str, guest_id: str) -> None:
        self.business = business
        self.api = api
        self.room_type_id = room_type_id
        self.guest_id = guest_id

    @classmethod
    async def open(cls, business: Business, rooms: int = 1, **fields: Any) -> "House":
        """A room type with some rooms, 101 and on, and a guest."""
        api = await business.client(
            "hotel:read", "hotel:write", "orders:read", "orders:write", "customers:read",
            "customers:write",
        )  # fmt: skip
        new = {"name": "Standard", "capacity": 2, "rate": 100, **fields}
        kind = (await api.post(f"{HOTEL}/room-types", new, status=201)).data["id"]
        person = {"name": "Chinedu Eze", "phone_number": "+2348030000001"}
        guest = (await api.post(f"{HOTEL}/guests", person, status=201)).data["id"]
        house = cls(business, api, kind, guest)
        for index in range(rooms):
            await house.room(str(101 + index))
        return house

    async def room(self, number: str = "", **fields: Any) -> str:
        """One room more; its id."""
        body = {
            "room_type_id": self.room_type_id,
            "number": number or secrets.token_hex(4),
            **fields,
        }
        return (await self.api.post(f"{HOTEL}/rooms", body, status=201)).data["id"]

    async def made(self, path: str, **body: Any) -> Any:
        """Something of the hotel."""
        return (await self.api.post(f"{HOTEL}/{path}", body, status=201)).data

    def stay(self, begins: int = 0, ends: int = 2, **fields: Any) -> dict[str, Any]:
        """The body of a booking."""
        return {
            "room_type_id": self.room_type_id,
            "guest_id": self.guest_id,
            "check_in_date": day(begins),
            "check_out_date": day(ends),
            **fields,
        }

    async def book(self, begins: int = 0, ends: int = 2, **fields: Any) -> dict[str, Any]:
        """A reservation."""
        return (await self.api.post(STAYS, self.stay(begins, ends, **fields), status=201)).data

    async def act(self, stay: dict[str, Any], verb: str, **body: Any) -> Response:
        """Ask for a step of a stay."""
        return await self.api.post(f"{STAYS}/{stay['id']}/{verb}", body)

    async def read(self, stay: dict[str, Any]) -> dict[str, Any]:
        """A reservation as it stands."""
        return (await self.api.get(f"{STAYS}/{stay['id']}", status=200)).data

    async def room_of(self, stay: dict[str, Any]) -> dict[str, Any]:
        """The room of a stay."""
        return (await self.api.get(f"{HOTEL}/rooms/{stay['roomId']}", status=200)).data

    async def told(self, kind: str = "") -> list[str]:
        """The types of the hotel's events that happened, or of one kind of them, in order."""
        async with self.api.app.services.pool.reading() as db:
            rows = await db.fetch(
                """
                SELECT e.type FROM webhook_events e JOIN books b ON b.id = e.book_id
                WHERE b.business_id = $1::text::uuid AND e.type LIKE $2 ORDER BY e.id
                """,
                self.business.id,
                f"hotel.{kind}%",
            )
        return [row["type"] for row in rows]
