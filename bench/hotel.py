"""A hotel: free rooms of a year, bookings against the same statements sent bare, and its lists."""

import argparse
import asyncio
import contextlib
import json
import math
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from rich.console import Console

from bench import client, kept, world
from bench.bare_bookings import PATH, bookings
from bench.hotel_filling import House, fill, fill_large
from bench.lists import Client, Timing, report
from tillhouse.kit.ids import new_id

PARTS = ("free", "book", "list")
SMALL = 10_000
CLIENTS = 8
HOTEL = "/v1/hotel"
FREE = f"{HOTEL}/availability"
YEAR = 365
SPANS = (7, 30, 90, 180, YEAR)
FREE_P95_MS_MAX, LONG_P95_MS_MAX, BOOK_MIN = 50.0, 25.0, 0.6
_USUAL_MS_MAX, _FILTER_MS_MAX = 25.0, 200.0
_USUAL = ("the newest 50", "rooms", "guests", "service requests", "audits", "a folio")
_SCOPES = ("hotel:read", "hotel:write", "voice:read")
_LARGE = kept.Plan("hotel", _SCOPES, fill_large)
# Five hundred rooms, each with a stay in six days for a year, and a guest now.
_HOUSE = House(rooms=500, stays=30_500, days=6)
# Two hundred rooms with stays for two years, in each another one every third day.
_LONG = tuple(House(rooms=200, stays=48_800, days=3, types=types) for types in (10, 4, 1))


def measure(options: argparse.Namespace) -> None:
    """Measure what is asked for, and print it."""
    parts = [options.only] if options.only else PARTS
    if "free" in parts or "book" in parts:
        with _filled(_HOUSE) as (url, port, token):
            if "free" in parts:
                _free(port, token, _HOUSE, FREE_P95_MS_MAX, options)
            if "book" in parts:
                _book(url, port, token, options)
    if "free" in parts:
        for house in _LONG:
            with _filled(house) as (_, port, token):
                _free(port, token, house, LONG_P95_MS_MAX, options)
    if "list" in parts:
        _lists(options)


@contextlib.contextmanager
def _filled(house: House) -> Iterator[tuple[str, int, str]]:
    """A server with such a hotel: its database, its port, and a key."""
    with (
        world.database() as url,
        world.server("tillhouse", url, **kept.SETTINGS) as port,
    ):
        token = world.api_key(port, _SCOPES)
        business = world.call(port, "GET", "/v1/voice/health", token=token)["businessId"]
        plan = kept.Plan("hotel", _SCOPES, lambda db, book, _: fill(db, book, house))
        asyncio.run(kept.fill(url, UUID(business), plan, house.stays))
        yield url, port, token


def _free(port: int, token: str, house: House, most: float, options: argparse.Namespace) -> None:
    """Spans of every room, one request after another, in rounds."""
    asking = Client(port, token)
    today = date.fromisoformat(asking.get(FREE)["data"]["checkInDate"])
    Console().print(f"free rooms, {house}: p50 / p95 in ms", highlight=False)
    for days in SPANS:
        until = {"to": today + timedelta(days=days)}
        rounds = [asking.time(FREE, until) for _ in range(options.rounds)]
        shown = ", ".join(f"{one.p50:.1f} / {one.p95:.1f}" for one in rounds)
        p95 = statistics.median(one.p95 for one in rounds)
        _say(f"{days} days: {shown}; p95", p95, most)


def _book(url: str, port: int, token: str, options: argparse.Namespace) -> None:
    """Bookings of the days after that year, and the same statements bare, in turns."""
    asking = Client(port, token)
    free = asking.get(FREE)["data"]
    begins = date.fromisoformat(free["checkInDate"]) + timedelta(days=YEAR + 1)
    guests = [
        guest["id"]
        for page in range(1, 11)
        for guest in asking.get(f"{HOTEL}/guests?limit=100&page={page}")["data"]
    ]
    scene = {
        "token": token, "day": begins.isoformat(), "guests": guests,
        "types": [kind["roomTypeId"] for kind in free["roomTypes"]],
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="tillhouse-bench-") as folder:
        path = Path(folder) / "scene.json"
        path.write_text(json.dumps(scene), "utf-8")
        os.environ["BENCH_SCENE"] = str(path)
        with world.server("bare bookings", url, **kept.SETTINGS) as bare:
            requests = {"bookings": (port, _bookings(token, scene)), "bare": (bare, _bare)}
            _compare(requests, options)


def _compare(
    requests: dict[str, tuple[int, Callable[[], bytes]]], options: argparse.Namespace
) -> None:
    runs: dict[str, list[client.Result]] = {name: [] for name in requests}
    for _ in range(options.rounds):
        for name, (port, request) in requests.items():
            done = client.run(
                port, request, clients=CLIENTS, seconds=options.seconds, wanted=b"HTTP/1.1 201"
            )
            assert not done.failures, f"{name}: {done.failures} failures"
            runs[name].append(done)
    for name, found in runs.items():
        shown = [f"{one.per_second:,.0f}/s, p95 {one.p95_ms:.1f} ms" for one in found]
        Console().print(f"{name}: {'; '.join(shown)}", highlight=False)
    pairs = zip(runs["bookings"], runs["bare"], strict=True)
    ratio = statistics.median(app.per_second / bare.per_second for app, bare in pairs)
    _say("bookings, of a bare handler with the same statements", ratio, BOOK_MIN, is_least=True)


def _bookings(token: str, scene: dict[str, Any]) -> Callable[[], bytes]:
    bodies = bookings(scene)

    def post() -> bytes:
        headers = [f"authorization: Bearer {token}", f"idempotency-key: {new_id()}"]
        return client.post(PATH, headers, msgspec.json.encode(next(bodies)))

    return post


def _bare() -> bytes:
    return client.post("/", (), b"{}")


def _lists(options: argparse.Namespace) -> None:
    """The lists of a small and of a large hotel, one after the other."""
    found: dict[int, dict[str, Timing]] = {}
    for rows in sorted({SMALL, options.rows or SMALL}):
        with (
            kept.kept_book(Path(options.books), _LARGE, rows) as book,
            world.server("tillhouse", book.url, **book.settings) as port,
        ):
            asking = Client(port, book.token)
            found[rows] = {
                name: asking.time(HOTEL + path, query)
                for name, (path, query) in _queries(asking).items()
            }
    report(Console(width=140), found, _most)


def _most(name: str) -> float:
    """The bar of a query."""
    return _USUAL_MS_MAX if name in _USUAL else _FILTER_MS_MAX


def _queries(asking: Client) -> dict[str, tuple[str, dict[str, Any]]]:
    """Queries by name; their values are taken from the hotel."""
    first = asking.get(f"{PATH}?limit=100")
    pages = math.ceil(first["meta"]["total"] / 50)
    (one, *_) = asking.get(f"{PATH}?limit=1&page={pages * 25}")["data"]
    today = date.fromisoformat(asking.get(FREE)["data"]["checkInDate"])
    year = {"from": today - timedelta(days=YEAR), "to": today}
    name = one["guestName"]
    stays: dict[str, dict[str, Any]] = {
        "the newest 50": {}, "limit 100": {"limit": 100},
        **{f"status={status}": {"status": status} for status in (
            "booked", "checked_in", "checked_out", "cancelled", "no_show", "cancelled,no_show")},
        "arrivals of today": {"from": today, "to": today, "status": "booked,checked_in"},
        "a month": {"from": today - timedelta(days=30), "to": today},
        "a year": year, "no-shows of a year": {**year, "status": "no_show"},
        "from today on": {"from": today}, "until a year ago": {"to": year["from"]},
        "in a room": {"room_id": one["roomId"]},
        "cancelled in a room": {"room_id": one["roomId"], "status": "cancelled"},
        "of a guest": {"guest_id": one["guestId"]}, "a code": {"search": one["shortCode"]},
        "whole name": {"search": name}, "first name": {"search": name.split()[0]},
        "first name, booked": {"search": name.split()[0], "status": "booked"},
        "a letter": {"search": name[0]}, "no such word": {"search": "zzzz"},
        "middle page": {"page": max(1, pages // 2)}, "last page": {"page": pages},
        "middle page of checked out": {"status": "checked_out", "page": max(1, pages // 3)},
        "middle page of a year": {**year, "page": max(1, pages // 20)},
    }  # fmt: skip
    return {
        **{name: ("/reservations", query) for name, query in stays.items()},
        **_others(asking, one, pages),
        "free rooms of a year": ("/availability", {"to": today + timedelta(days=YEAR)}),
    }


def _others(
    asking: Client, one: dict[str, Any], pages: int
) -> dict[str, tuple[str, dict[str, Any]]]:
    """Queries of the other lists."""
    name, deep = one["guestName"], {"page": max(1, pages // 8)}
    lists: dict[str, tuple[str, dict[str, Any]]] = {
        "rooms": ("rooms", {}), "clean rooms": ("rooms", {"status": "clean"}),
        "guests": ("guests", {}), "guests, middle page": ("guests", deep),
        "guests by whole name": ("guests", {"search": name}),
        "guests by first name": ("guests", {"search": name.split()[0]}),
        "service requests": ("service-requests", {}),
        "service requests, open": ("service-requests", {"status": "open"}),
        "service requests, done": ("service-requests", {"status": "done"}),
        "service requests, food": ("service-requests", {"category": "food"}),
        "service requests, in progress + food": (
            "service-requests", {"category": "food", "status": "in_progress"}),
        "service requests of a room": ("service-requests", {"room_id": one["roomId"]}),
        "service requests, middle page": ("service-requests", deep),
        "service requests, middle page of done": ("service-requests", {**deep, "status": "done"}),
        "a folio": (f"reservations/{one['id']}/folio", {}), "audits": ("audits", {}),
    }  # fmt: skip
    return {name: (f"/{path}", query) for name, (path, query) in lists.items()}


def _say(what: str, found: float, bar: float, *, is_least: bool = False) -> None:
    is_kept = found >= bar if is_least else found <= bar
    Console().print(
        f"{what}: {found:.2f} (bar: {bar}, {'kept' if is_kept else 'MISSED'}); load averages of "
        f"the machine: {os.getloadavg()}", highlight=False,
    )  # fmt: skip
