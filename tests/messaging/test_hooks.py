"""WhatsApp's webhook: signed, stored first, processed once, never moved back."""

import asyncio
from itertools import permutations
from uuid import UUID

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kitchen.sale_rows import Kitchen
from tests.make import Business
from tests.messaging.whatsapp_business import (
    NUMBERS,
    PHONE,
    Line,
    later,
    said,
    signed,
    state,
    update,
)
from tillhouse.kit.clock import now, parse_timestamp
from tillhouse.kit.errors import Forbidden, Missing
from tillhouse.kit.ids import new_id
from tillhouse.messaging import hooks
from tillhouse.messaging.rules import RANKS, is_further
from tillhouse.messaging.types import DeliveryStatus

RECEIVED = "messaging.message.received"
MOVED = "messaging.message.delivery_updated"


async def sent(line: Line) -> tuple[str, str]:
    """A message that WhatsApp took: (conversation, message)."""
    talk = await line.hear()
    return talk, (await line.write(talk, {"text": "Ready!"}, status=201)).data["id"]


async def waiting(sql: asyncpg.Connection, line: Line) -> int:
    """How many updates nobody has processed."""
    book_id = line.kitchen.book.id
    rows = await sql.fetch(
        "SELECT FROM jobs WHERE book_id = $1 AND kind = $2", book_id, hooks.UPDATE
    )
    return len(rows)


async def test_the_handshake_is_answered(line: Line) -> None:
    """To who knows the token; others hear no, and an unknown number is not found."""
    number_id = UUID(line.number["id"])
    query = {"hub.mode": "subscribe", "hub.verify_token": "verify-token", "hub.challenge": "42"}
    assert await hooks.greet(line.services, number_id, query) == "42"
    with pytest.raises(Forbidden):
        await hooks.greet(line.services, number_id, {**query, "hub.verify_token": "guess"})
    with pytest.raises(Missing):
        await hooks.greet(line.services, new_id(), query)


async def test_what_is_not_signed_is_not_stored(line: Line, sql: asyncpg.Connection) -> None:
    """Nor what is for a number that isn't connected, or no longer."""
    number_id, body = UUID(line.number["id"]), update(messages=[said("Hi")])
    for bad in (None, "", signed(body, "another"), signed(body + b" "), signed(body)[:-1]):
        with pytest.raises(Forbidden):
            await hooks.take(line.services, number_id, body, bad, now())
    with pytest.raises(Missing):
        await hooks.take(line.services, new_id(), body, signed(body), now())
    await line.api.delete(f"{NUMBERS}/{line.number['id']}", status=200)
    with pytest.raises(Missing):
        await hooks.take(line.services, number_id, body, signed(body), now())
    assert await waiting(sql, line) == 0


async def test_a_message_is_stored_first_and_processed_after(
    line: Line, sql: asyncpg.Connection
) -> None:
    """Between the two it waits, whatever happens to the process."""
    body = update(messages=[said("Is it ready?")])
    await hooks.take(line.services, UUID(line.number["id"]), body, signed(body), now())
    assert await waiting(sql, line) == 1
    assert await line.kitchen.events(RECEIVED) == []
    await line.work()
    assert await waiting(sql, line) == 0
    (data,) = await line.kitchen.events(RECEIVED)
    assert (data["customerPhone"], data["text"]) == (PHONE, "Is it ready?")
    (shown,) = await line.read(data["conversationId"])
    assert (shown["id"], shown["direction"]) == (data["messageId"], "inbound")


async def test_what_comes_twice_counts_once(line: Line) -> None:
    """WhatsApp delivers at least once; the same in one update, again, and at once."""
    message = said("Hi", id="wamid.same")
    body = update(messages=[message, message])
    for _ in range(5):
        await hooks.take(line.services, UUID(line.number["id"]), body, signed(body), now())
    await asyncio.gather(*(line.work() for _ in range(4)))
    assert len(await line.kitchen.events(RECEIVED)) == 1
    assert len(await line.read(await line.talk())) == 1


@pytest.mark.parametrize("order", list(permutations(["sent", "delivered", "read"])), ids=str)
async def test_a_late_report_never_moves_it_back(line: Line, order: tuple[str, ...]) -> None:
    """In whichever order they come, it ends as read; only what is news is told."""
    talk, message_id = await sent(line)
    for status in order:
        await line.post(statuses=[state(status, message_id)] * 2)
    assert (await line.read(talk))[-1]["deliveryStatus"] == "read"
    told = [data["deliveryStatus"] for data in await line.kitchen.events(MOVED)]
    seen = ["sent"]
    for status in order:
        seen += [status] if RANKS.index(status) > RANKS.index(seen[-1]) else []
    assert told == seen


async def test_reports_at_once_agree(line: Line) -> None:
    """Several workers, one message: the furthest stands, each step is told once at most."""
    talk, message_id = await sent(line)
    number_id = UUID(line.number["id"])
    for status in ["read", "sent", "delivered", "failed"] * 3:
        body = update(statuses=[state(status, message_id)])
        await hooks.take(line.services, number_id, body, signed(body), now())
    await asyncio.gather(*(line.work() for _ in range(4)))
    assert (await line.read(talk))[-1]["deliveryStatus"] == "read"
    told = [data["deliveryStatus"] for data in await line.kitchen.events(MOVED)]
    assert len(told) == len(set(told))
    assert told == sorted(told, key=RANKS.index)


async def test_a_failure_counts_until_it_was_delivered(line: Line) -> None:
    """It says why; another device of the customer may still get it, and then it did."""
    talk, message_id = await sent(line)
    error = {"code": 131026, "title": "Undeliverable"}
    await line.post(statuses=[state("failed", message_id, errors=[error])])
    shown = (await line.read(talk))[-1]
    assert (shown["deliveryStatus"], shown["error"]) == ("failed", "131026: Undeliverable")
    await line.post(statuses=[state("delivered", message_id)])
    await line.post(statuses=[state("failed", message_id, errors=[error])])
    shown = (await line.read(talk))[-1]
    assert (shown["deliveryStatus"], shown["error"]) == ("delivered", None)


@given(st.lists(st.sampled_from(RANKS), max_size=8))
def test_whatever_is_reported_the_furthest_stands(reports: list[DeliveryStatus]) -> None:
    """One by one, in any order, with any repetition."""
    stands: DeliveryStatus = "queued"
    for report in reports:
        if is_further(report, stands):
            stands = report
    assert RANKS.index(stands) == max(RANKS.index(one) for one in ("queued", *reports))


async def test_a_report_on_another_books_message_moves_nothing(
    line: Line, business: Business
) -> None:
    """A signature for one number can't reach the messages of another business."""
    other = await Kitchen.of(line.services, business, "test")
    api = await business.client("messaging:read", "messaging:write")
    if not (await api.get(NUMBERS, status=200)).data:
        await api.post(NUMBERS, {"provider": "sandbox"}, status=201)
    talk = (await api.post("/v1/conversations", {"phone_number": PHONE}, status=201)).data["id"]
    path = f"/v1/conversations/{talk}/messages"
    message = (await api.post(path, {"text": "x"}, status=201)).data
    await line.post(statuses=[state("read", message["id"])])
    assert (await api.get(path, status=200)).data[0]["deliveryStatus"] == "sent"
    assert len(await other.events(MOVED)) == 1


async def test_rubbish_with_a_good_signature_harms_nobody(
    line: Line, sql: asyncpg.Connection
) -> None:
    """It is passed over, and what comes after it is processed."""
    for body in (b"", b"\xff\x00", b"[]", b'{"entry": [{"changes": [null, 5]}]}'):
        await hooks.take(line.services, UUID(line.number["id"]), body, signed(body), now())
    await line.post(
        statuses=[{}, state("read", "no uuid"), state("read", str(new_id()))],
        messages=[{}, {"id": "x"}, said("Still here\u0000")],
    )
    assert await waiting(sql, line) == 0
    assert [data["text"] for data in await line.kitchen.events(RECEIVED)] == ["Still here"]


async def test_a_clock_that_runs_ahead_opens_no_longer_window(line: Line) -> None:
    """A message dated tomorrow counts as written now."""
    await line.post(messages=[said("Hi", at=later(days=3))])
    talk = (await line.api.get(f"/v1/conversations/{await line.talk()}", status=200)).data
    assert parse_timestamp(talk["windowEndsAt"]) <= later(hours=24)
