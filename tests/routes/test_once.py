"""Idempotency keys on every route that takes them. Generated from the route table."""

import asyncio
from typing import Any
from uuid import uuid4

from tests.api import Response
from tests.make import Business
from tests.routes.table import (
    FILLED_LATER,
    OF_KEYS,
    ONCE,
    OTHER_BODIES,
    Ready,
    every,
    name_of,
    operation,
    path_for,
    ready,
)
from tillhouse.http.route import Route

SECRETS = ("secret", "token")


def told(answer: Response) -> dict[str, Any]:
    """The content of an answer, secrets left out."""
    data = {name: v for name, v in answer.data.items() if name not in SECRETS}
    return {**answer.json, "data": data}


def with_key(value: str) -> dict[str, str]:
    """The header."""
    return {"idempotency-key": value}


@every([route for route in OF_KEYS if route.method == "POST"])
def test_every_post_of_a_key_keeps_an_idempotency_key(route: Route) -> None:
    """A retry after a timeout is safe, of each of them.

    A preview does nothing: it tells what holds now, and keeps no key that its request then needs.
    """
    assert route.idempotent != route.path.endswith("/preview")


@every(ONCE)
async def test_the_same_key_replays_the_first_answer(route: Route, business: Business) -> None:
    """The repetition carries Idempotent-Replayed and tells the same, except secrets."""
    good = await ready(route, business)
    header = with_key(str(uuid4()))
    first = await good.send(route, headers=header, status=route.status)
    again = await good.send(route, headers=header, status=route.replay_status or route.status)
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert told(again) == told(first)
    assert all(again.data.get(name) is None for name in SECRETS)


@every(ONCE)
async def test_a_key_in_double_quotes_is_the_same_key(route: Route, business: Business) -> None:
    """The IETF draft writes it as a quoted string, most clients don't."""
    good = await ready(route, business)
    value = str(uuid4())
    first = await good.send(route, headers=with_key(value), status=route.status)
    again = await good.send(route, headers=with_key(f'"{value}"'))
    assert again.headers["idempotent-replayed"] == "true"
    assert told(again) == told(first)


# Without a name in the path and a body, every request of a route is the same.
@every([route for route in ONCE if "{" in route.path or operation(route).get("requestBody")])
async def test_a_key_used_for_another_request_is_refused(route: Route, business: Business) -> None:
    """Another body, or another path, under the same key: 422 and nothing happens."""
    good = await ready(route, business)
    header = with_key(str(uuid4()))
    await good.send(route, headers=header, status=route.status)
    if name_of(route) in OTHER_BODIES:
        other = Ready(good.api, good.path, OTHER_BODIES[name_of(route)])
    elif good.body:
        other = Ready(good.api, good.path, {**good.body, "name": "Another"})
    else:
        other = Ready(good.api, await path_for(route, business, "live"), {})
    answer = await other.send(route, headers=header, status=422)
    assert answer.error == "idempotency_key_reused"


@every(ONCE)
async def test_a_key_out_of_bounds_is_refused(route: Route, business: Business) -> None:
    """1 to 255 printable ASCII characters, or 422 that names the header."""
    good = await ready(route, business)
    for value in ("k" * 256, "cl\xe9", "", '""', "k" + " " * 254 + "k", "tab\tbed", '"a', "\x7f"):
        answer = await good.send(route, headers=with_key(value), status=422)
        assert answer.wrong_fields == {"Idempotency-Key"}


@every(ONCE)
async def test_the_same_key_at_once_has_one_effect(route: Route, business: Business) -> None:
    """Of eight at the same time one is carried out and seven wait for its answer."""
    good = await ready(route, business)
    header = with_key(str(uuid4()))
    answers = await asyncio.gather(*(good.send(route, headers=header) for _ in range(8)))
    replayed = [a for a in answers if "idempotent-replayed" in a.headers]
    assert len(replayed) == 7
    later = FILLED_LATER.get(name_of(route), set())
    kept = [{n: v for n, v in told(a)["data"].items() if n not in later} for a in answers]
    assert len({str(one) for one in kept}) == 1


@every(ONCE)
async def test_a_refusal_is_not_kept(route: Route, business: Business) -> None:
    """After a refusal the same key carries the corrected request."""
    good = await ready(route, business)
    header = with_key(str(uuid4()))
    wrong = Ready(good.api, good.path, {**good.body, "surprise": 1})
    await wrong.send(route, headers=header, status=422)
    answer = await good.send(route, headers=header, status=route.status)
    assert "idempotent-replayed" not in answer.headers
