"""The ceiling of orders: an ASGI function that sends the statements of an order and nothing else.

The statements are those that the application sent for orders like these; ids, codes and keys are
put in anew, so that each request writes what an order writes. Those that wait at the same time
share a statement, as in the application. Nothing is parsed, checked or built, and no key is
checked: what the application needs beyond this is its own cost.
"""

import asyncio
import itertools
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, LiteralString, cast
from uuid import UUID

from bench.recording import Recorder, Statement
from tillhouse.app import settle
from tillhouse.db.pool import Db
from tillhouse.kit.ids import new_id, short_code

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_CODE = re.compile(r'"short_code":"([A-Z0-9]{8})"')


class Template:
    """The statements of one order, with gaps for what every order has of its own."""

    def __init__(
        self,
        statements: list[Statement],
        constant: set[str],
        key: str,
        own: dict[str, Callable[[], str]] | None = None,
    ) -> None:
        text = json.dumps([list(map(str, _flat(one.args))) for one in statements])
        fresh = set(re.findall(_UUID, text)) - constant
        tokens: list[tuple[str, Callable[[], str]]] = [(one, _id) for one in sorted(fresh)]
        tokens += [(one, _reference) for one in sorted(set(re.findall(r"TXN-[A-Z0-9]{12}", text)))]
        for one in statements:
            for arg in one.args:
                if isinstance(arg, str) and (found := _CODE.search(arg)):
                    tokens.append((found[1], short_code))
        tokens += (own or {}).items()
        tokens.append((key, _id))
        self._places = {token: place for place, (token, _) in enumerate(tokens)}
        self._makers = [maker for _, maker in tokens]
        self._pattern = re.compile("|".join(f"({re.escape(token)})" for token, _ in tokens))
        self.statements = [
            (one.method, one.sql, [self._fill(arg) for arg in one.args]) for one in statements
        ]

    def values(self) -> list[str]:
        """The parts that differ from order to order."""
        return [maker() for maker in self._makers]

    def _fill(self, arg: Any) -> Callable[[list[str]], Any]:
        """How an argument is made of the values."""
        if isinstance(arg, list):
            parts = [self._fill(one) for one in arg]
            return lambda values: [part(values) for part in parts]
        text = str(arg)
        if isinstance(arg, bytes) or not self._pattern.search(text):
            return lambda _: arg
        if isinstance(arg, UUID):
            place = self._places[text]
            return lambda values: UUID(values[place])
        if isinstance(arg, date):
            place = self._places[text]
            return lambda values: date.fromisoformat(values[place])
        pieces = self._pieces(text)
        return lambda values: "".join(
            [one if isinstance(one, str) else values[one] for one in pieces]
        )

    def _pieces(self, text: str) -> list[str | int]:
        pieces: list[str | int] = []
        end = 0
        for match in self._pattern.finditer(text):
            pieces += [text[end : match.start()], self._places[match[0]]]
            end = match.end()
        return [*pieces, text[end:]]


def uuids(args: Any) -> set[str]:
    """The ids in some arguments."""
    return set(re.findall(_UUID, str(args)))


def _flat(args: Any) -> Iterator[Any]:
    for arg in args:
        if isinstance(arg, list | tuple):
            yield from _flat(arg)
        else:
            yield arg


def _id() -> str:
    return str(new_id())


def _reference() -> str:
    return f"TXN-{short_code(12)}"


class Ceiling:
    """The ASGI function; the scene is a file with a key, bodies of orders, and their ids."""

    def __init__(self, scene: str) -> None:
        self._scene = json.loads(Path(scene).read_text("utf-8"))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or start and stop with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["method"] == "POST":
            while (await receive()).get("more_body"):
                pass
            await self._place()
            await _answer(send, 201, self._posted)
        elif scope["path"] == "/v1/orders":
            await _answer(send, 200, await self._list(scope))
        else:
            connection = await self._pool.acquire()
            try:
                order_id = UUID(scope["path"].rpartition("/")[2])
                await connection.fetch(self._select, self._book_id, order_id)
            finally:
                await self._pool.release(connection)
            await _answer(send, 200, self._shown)

    async def _place(self) -> None:
        template = next(self._templates)
        values = template.values()
        db = Db(self._pool, write=True, commits_next=True)
        try:
            for method, sql, fills in template.statements:
                args = [fill(values) for fill in fills]
                if method == "write_once":
                    await self._lanes.write(db, _write, sql, args)
                else:
                    assert method == "read_before", method
                    await self._lanes.read(db, _read, sql, args)
            await db.commit()
        finally:
            await db.release()

    async def _list(self, scope: Any) -> bytes:
        """The statements of a list, one after the other; its bytes are those of the first time."""
        async with self._first:
            if self._listed is None:
                path = f"{scope['path']}?{scope['query_string'].decode()}"
                self._listed = await self._recorder.request(self._scene["token"], "GET", path)
        answer, statements = self._listed
        db = Db(self._pool, write=False)
        try:
            for one in statements:
                await getattr(db, one.method)(cast("LiteralString", one.sql), *one.args)
        finally:
            await db.release()
        return answer.body

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        self._recorder = recorder = Recorder(dict(os.environ))
        self._listed: Any = None
        self._first = asyncio.Lock()
        app = await recorder.start()
        self._pool, self._lanes = app.services.pool, app.services.batcher
        token = self._scene["token"]
        templates: list[Template] = []
        answers: list[Any] = []
        for body in self._scene["bodies"]:
            runs: list[Any] = []
            for _ in range(2):
                key = f"ceiling-{new_id()}"
                runs.append((*await _post(recorder, token, body, key), key))
            answer, statements, key = runs[1]
            constant = uuids([s.args for s in runs[0][1]])
            templates.append(Template(statements, constant, key))
            answers.append(answer)
        self._templates = itertools.cycle(templates)
        last = answers[-1]
        self._posted = last.body
        path = f"/v1/orders/{last.data['id']}"
        shown, reads = await recorder.request(token, "GET", path)
        self._shown, self._select = shown.body, reads[0].sql
        self._book_id = reads[0].args[0]
        settle()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await app.stop()
        await send({"type": "lifespan.shutdown.complete"})


async def _read(db: Db, sql: str, each: Sequence[list[Any]]) -> None:
    await db.read_before(cast("LiteralString", sql), *map(_joined, zip(*each, strict=True)))


async def _write(db: Db, sql: str, each: Sequence[list[Any]]) -> bool:
    """One statement for all of them: rows in JSON and arrays are joined, anything else is equal."""
    await db.write_once(cast("LiteralString", sql), *map(_joined, zip(*each, strict=True)))
    return True


def _joined(values: tuple[Any, ...]) -> Any:
    first = values[0]
    if isinstance(first, list):
        return [one for value in values for one in value]
    if isinstance(first, str) and first.startswith("["):
        return "[" + ",".join(filter(None, (value[1:-1] for value in values))) + "]"
    return first


async def _post(recorder: Recorder, token: str, body: Any, key: str) -> Any:
    headers = {"idempotency-key": key}
    answer, statements = await recorder.request(token, "POST", "/v1/orders", body, **headers)
    assert answer.status == 201, answer
    return answer, statements


async def _answer(send: Any, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
