"""The ceiling of bookings: an ASGI function that sends the statements of a booking, and no more.

The statements are those that the application sent for a booking like these; ids, codes, keys, days,
room types and guests are put in anew. Nothing is parsed, checked, priced or shown, and no key is
checked: what the application needs beyond this is its own cost.
"""

import itertools
import json
import os
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from bench.ceiling import Template, uuids
from bench.recording import Recorder
from tillhouse.app import settle
from tillhouse.kit.ids import new_id, short_code

PATH = "/v1/hotel/reservations"
_DAYS = 360


def bookings(scene: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Bodies of bookings without end: one night each, of every type, guest and day in turn."""
    begins, kinds, guests = date.fromisoformat(scene["day"]), scene["types"], scene["guests"]
    for number in itertools.count():
        day = begins + timedelta(days=number // len(kinds) % _DAYS)
        yield {
            "room_type_id": kinds[number % len(kinds)],
            "guest_id": guests[number % len(guests)],
            "check_in_date": day.isoformat(),
            "check_out_date": (day + timedelta(days=1)).isoformat(),
        }


class BareBookings:
    """The ASGI function; the scene is a file with a key, room types, guests and a first day."""

    def __init__(self) -> None:
        self._scene = json.loads(Path(os.environ["BENCH_SCENE"]).read_text("utf-8"))
        self._bodies = bookings(self._scene)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or start and stop with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        while (await receive()).get("more_body"):
            pass
        await self._book()
        await send({"type": "http.response.start", "status": 201, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._posted})

    async def _book(self) -> None:
        self._body = next(self._bodies)
        values = self._template.values()
        async with self._pool.transaction() as db:
            for method, sql, fills in self._template.statements:
                await getattr(db, method)(sql, *[fill(values) for fill in fills])

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        recorder = Recorder(dict(os.environ))
        app = await recorder.start()
        self._pool = app.services.pool
        self._body = next(self._bodies)
        first, second = [await self._recorded(recorder) for _ in range(2)]
        answer, statements, key = second
        constant = uuids([one.args for one in first[1]])
        self._template = Template(statements, constant, key, self._own(answer.data["shortCode"]))
        self._posted = answer.body
        self._headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(answer.body)),
        ]
        settle()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await app.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _recorded(self, recorder: Recorder) -> Any:
        key = f"bare-{new_id()}"
        headers = {"idempotency-key": key}
        token = self._scene["token"]
        answer, statements = await recorder.request(token, "POST", PATH, self._body, **headers)
        assert answer.status == 201, answer
        return answer, statements, key

    def _own(self, code: str) -> dict[str, Callable[[], str]]:
        """The parts of the recorded booking that are another one's in each."""
        recorded = self._body

        def part(name: str) -> Callable[[], str]:
            return lambda: self._body[name]

        return {recorded[name]: part(name) for name in recorded} | {code: short_code}
