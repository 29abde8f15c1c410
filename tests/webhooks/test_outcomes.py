"""The meaning of an answer: delivered, tried again, or failed for good."""

import asyncio
import socket
from collections import Counter
from datetime import datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import ENDPOINTS, Json, Shop, until
from tillhouse.kit.clock import now, parse_timestamp

DELIVERED = (200, 201, 204, 206, 299)
FAILED = (300, 301, 302, 303, 304, 307, 308, 400, 401, 404, 410, 429, 500, 503)


def _status_in_path(receiver: Receiver) -> None:
    """The receiver answers /NNN with that status, and names another place in every answer."""

    async def answer(request: web.Request) -> web.Response:
        elsewhere = receiver.url.replace("/hook", "/elsewhere")
        status = int(request.path.strip("/"))
        body = None if status in (204, 304) else b"\0not json\xff" * 10
        return web.Response(status=status, headers={"Location": elsewhere}, body=body)

    receiver.answer = answer


async def _send_to(shop: Shop, receiver: Receiver, statuses: tuple[int, ...]) -> dict[int, Json]:
    """One event to an endpoint for each status; the deliveries once they are over."""
    at: dict[str, int] = {}
    for place, status in enumerate(statuses):
        environment = "test" if place % 2 else "live"
        url = receiver.url.replace("/hook", f"/{status}")
        at[(await shop.endpoint(url, environment=environment))["id"]] = status
    await shop.emit()
    await shop.emit(environment="live")

    async def look() -> list[Json] | None:
        found = await shop.deliveries()
        is_over = all(d["status"] != "pending" and d["nextAttemptAt"] is None for d in found)
        return found if is_over else None

    found = await until(look)
    return {at[d["webhookEndpointId"]]: await shop.delivery(d["id"]) for d in found}


async def test_any_2xx_is_a_delivery(sender: Shop, receiver: Receiver) -> None:
    """At the first attempt, whatever its body says."""
    _status_in_path(receiver)
    for status, found in (await _send_to(sender, receiver, DELIVERED)).items():
        assert found["status"] == "delivered", status
        assert (found["responseStatus"], found["errorMessage"]) == (status, None)
        assert found["attempts"] == 1
        assert found["latencyMs"] >= 0
        assert parse_timestamp(found["deliveredAt"]) <= now()
        [entry] = found["attemptsLog"]
        assert (entry["responseStatus"], entry["address"]) == (status, "127.0.0.1")
    for endpoint in (await sender.owner.get(ENDPOINTS, status=200)).data:
        assert endpoint["lastDeliveryStatus"] == "delivered"
        assert endpoint["lastDeliveredAt"] is not None


async def test_any_other_answer_fails_after_five_attempts(sender: Shop, receiver: Receiver) -> None:
    """Redirects are not followed; the last failure is final and named by its status."""
    _status_in_path(receiver)
    for status, found in (await _send_to(sender, receiver, FAILED)).items():
        assert found["status"] == "failed", status
        assert (found["responseStatus"], found["errorMessage"]) == (status, f"http_{status}")
        assert (found["attempts"], found["deliveredAt"]) == (5, None)
        assert [entry["attempt"] for entry in found["attemptsLog"]] == [1, 2, 3, 4, 5]
        assert {entry["error"] for entry in found["attemptsLog"]} == {f"http_{status}"}
    paths = Counter(got.path for got in receiver.received)
    assert paths == {f"/{status}": 5 for status in FAILED}
    for endpoint in (await sender.owner.get(ENDPOINTS, status=200)).data:
        assert (endpoint["lastDeliveryStatus"], endpoint["failureCount"]) == ("failed", 5)


async def test_a_retry_is_the_same_event_signed_afresh(sender: Shop, receiver: Receiver) -> None:
    """The same id and bytes in every attempt; another time, and so another signature."""
    statuses = iter([503, 500, 500, 200])

    async def answer(request: web.Request) -> web.Response:
        status = next(statuses)
        seconds = "1" if status == 503 else "60"
        return web.Response(status=status, headers={"Retry-After": seconds})

    receiver.answer = answer
    await sender.endpoint(receiver.url)
    event_id = await sender.emit()
    over = await sender.settled(event_id)
    assert (over["status"], over["attempts"], over["errorMessage"]) == ("delivered", 4, None)
    got = receiver.received
    assert {each.event_id for each in got} == {event_id}
    assert len({each.body for each in got}) == 1
    # The wait that 503 asked for is kept; the minute of 500 is not.
    assert got[1].signed_at > got[0].signed_at
    assert got[1].headers["Service-Signature"] != got[0].headers["Service-Signature"]
    log = [datetime.fromisoformat(entry["at"]) for entry in over["attemptsLog"]]
    assert log[1] - log[0] >= timedelta(seconds=1)


@pytest.mark.parametrize(
    ("status", "retry_after", "least_s", "most_s"),
    [
        (503, "120", 120, 121),
        (429, "120", 120, 121),
        (503, "999999999", 3600, 3601),
        (500, "120", 0, 1),
        (503, "-5", 0, 1),
        (503, "soon", 0, 1),
        (503, "0", 0, 1),
        (503, "1e9", 0, 1),
        (503, "9" * 400, 0, 1),
        (503, "Sun, 06 Nov 1994 08:49:37 GMT", 0, 1),
        (503, "in five minutes", 290, 300),
    ],
)
async def test_retry_after_only_lengthens(
    sender: Shop, receiver: Receiver, status: int, retry_after: str, least_s: int, most_s: int
) -> None:
    """Seconds or a date, on 429 and 503, an hour at most; anything else counts for nothing."""
    if retry_after == "in five minutes":
        retry_after = format_datetime(now() + timedelta(seconds=300), usegmt=True)
    first = asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        if first.is_set():
            return web.Response()
        first.set()
        return web.Response(status=status, headers={"Retry-After": retry_after})

    receiver.answer = answer
    await sender.endpoint(receiver.url)
    event_id = await sender.emit()

    async def look() -> Json | None:
        found = await sender.delivery_of(event_id)
        return found if found["attempts"] else None

    found = await until(look)
    began = parse_timestamp(found["attemptsLog"][0]["at"])
    if found["status"] == "delivered":
        # The retry was quicker than the look.
        assert least_s == 0
        return
    assert (found["status"], found["attempts"]) == ("failed", 1)
    due = parse_timestamp(found["nextAttemptAt"])
    # At least so long after the attempt began, and no longer than that from now: what passed in
    # between is the machine's affair.
    assert (due - began).total_seconds() >= least_s
    assert (due - now()).total_seconds() <= most_s


async def test_a_success_clears_the_count_of_failures(sender: Shop, receiver: Receiver) -> None:
    """It counts consecutive ones."""
    statuses = iter([500, 500, 200])

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=next(statuses))

    receiver.answer = answer
    endpoint_id = (await sender.endpoint(receiver.url))["id"]
    await sender.settled(await sender.emit())
    endpoint = await sender.read(endpoint_id)
    assert (endpoint["failureCount"], endpoint["lastDeliveryStatus"]) == (0, "delivered")


async def test_a_receiver_that_is_not_there_is_a_failure(sender: Shop) -> None:
    """Nobody listens: connection_failed, five times."""
    with socket.socket() as kept:
        # Bound and never listening: nobody else gets the port meanwhile.
        kept.bind(("127.0.0.1", 0))
        await sender.endpoint(f"https://127.0.0.1:{kept.getsockname()[1]}/hook")
        over = await sender.settled(await sender.emit())
    assert (over["status"], over["attempts"]) == ("failed", 5)
    assert (over["errorMessage"], over["responseStatus"]) == ("connection_failed", None)


async def test_a_forbidden_target_is_a_failure(sender: Shop) -> None:
    """An address that was public when it was saved may be another's by now."""
    endpoint_id = (await sender.endpoint())["id"]
    async with sender.services.pool.transaction() as db:
        await db.execute(
            "UPDATE webhook_endpoints SET url = 'https://10.0.0.1/hook' WHERE id::text = $1",
            endpoint_id,
        )
    over = await sender.settled(await sender.emit())
    assert (over["status"], over["attempts"]) == ("failed", 5)
    assert over["errorMessage"] == "forbidden_target"
