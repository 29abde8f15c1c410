"""The wire is as recorded: each answer of the story, field by field."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from story.play import play
from story.recording import read

from tests.conftest import fresh_database
from tillhouse.app import ROUTES
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.fields import fields_of

RECORDED = Path(__file__).parent / "recorded.json"
Exchange = dict[str, Any]

SHOWN_MAX = 50
# Written every two seconds, so a slower machine may show them an exchange earlier.
WRITTEN_LATER = ("lastUsedAt", "lastUsedIp")


@pytest.fixture(scope="module")
async def played(server_url: str) -> list[Exchange]:
    """The story, played against this code."""
    async with fresh_database(server_url, "tillhouse_story") as url:
        return await asyncio.to_thread(play, url)


@pytest.mark.proof
async def test_every_answer_is_as_recorded(played: list[Exchange]) -> None:
    """Status, headers and body of each exchange are the recorded ones, but for what passes."""
    recorded = read(RECORDED)
    assert [e["operation"] for e in played] == [e["operation"] for e in recorded], (
        "The story has other requests than the recording: run `make record`."
    )
    found = [
        difference
        for number, (was, now) in enumerate(zip(recorded, played, strict=True), 1)
        for difference in differences(was, now, f"exchange {number}, {was['operation']}:")
    ]
    assert not found, "\n".join(["The wire differs from the recording.", *found[:SHOWN_MAX]])


def differences(was: Any, now: Any, where: str) -> Iterator[str]:
    """Every field that differs, with what was recorded and what came."""
    match was, now:
        case dict(), dict():
            for name in [*was, *(name for name in now if name not in was)]:
                if name not in now:
                    yield f"{where} {name} is missing; {brief(was[name])} was recorded"
                elif name not in was:
                    yield f"{where} {name} is new: {brief(now[name])}"
                elif name not in WRITTEN_LATER or (was[name] and now[name]):
                    yield from differences(was[name], now[name], f"{where} {name}")
        case list(), list():
            if len(was) != len(now):
                yield f"{where} has {len(now)} items, {len(was)} were recorded"
            for index, (before, after) in enumerate(zip(was, now, strict=False)):
                yield from differences(before, after, f"{where}[{index}]")
        case _:
            if was != now or type(was) is not type(now):
                yield f"{where} is {brief(now)}, {brief(was)} was recorded"


def brief(value: Any) -> str:
    """A value as far as a line holds it."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:200] + "…"


def test_the_recording_has_every_operation() -> None:
    """Each route answers with success at least once."""
    succeeded = {e["operation"] for e in read(RECORDED) if e["status"] < 300}
    routes = {f"{route.method} {route.path}" for route in ROUTES}
    assert not routes - succeeded, f"never asked with success: {sorted(routes - succeeded)}"


def test_the_recording_has_every_query_parameter() -> None:
    """Each parameter of a query is used at least once where the answer is a success."""
    used = {
        (exchange["operation"], name)
        for exchange in read(RECORDED)
        for name in exchange.get("query", ())
        if exchange["status"] < 300
    }
    known = {
        (f"{route.method} {route.path}", name)
        for route in ROUTES
        for name in fields_of(RouteHandler(route).query_type)
    }
    assert not known - used, f"never used: {sorted(known - used)}"
