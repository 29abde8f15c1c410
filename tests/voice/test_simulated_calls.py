"""Calls on the simulated network: each number ends as its last digits say, with its events."""

import array
import asyncio
import os
import random
import time
import wave
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from tests.voice.campaign import Load, faults, fill, tally_faults
from tests.voice.desk import AGENTS, CALLS, NUMBERS, SUPPRESSIONS, Desk, phone
from tests.voice.virtual import Network
from tillhouse.app import App
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.voice.recordings.sweeping import sweep

STARTED, COMPLETED, FAILED, READY = (
    "voice.call.started", "voice.call.completed", "voice.call.failed", "voice.recording.ready",
)  # fmt: skip


async def events(desk: Desk, call_id: str) -> list[dict[str, Any]]:
    """The events of a call, in their order."""
    wanted = ",".join((STARTED, COMPLETED, FAILED, READY))
    path, headers = f"/v1/events/stream?events={wanted}", {"service-environment": "test"}
    told = (await desk.business.owner.get(path, headers=headers, status=200)).data
    return [one for one in reversed(told) if one["data"]["callId"] == call_id]


@pytest.mark.parametrize(
    ("ending", "status", "reason", "ended_by", "told"),
    [
        ("0100", "completed", "agent_hangup", "agent", [STARTED, COMPLETED, READY]),
        ("0101", "missed", "busy", "customer", [FAILED]),
        ("0102", "missed", "no_answer", "provider", [FAILED]),
        ("0103", "completed", "voicemail", "agent", [STARTED, COMPLETED]),
        ("0104", "missed", "declined", "customer", [FAILED]),
        ("0105", "failed", "provider_unavailable", "provider", [FAILED]),
        ("0106", "failed", "invalid_destination", "provider", [FAILED]),
        ("0107", "completed", "customer_hangup", "customer", [STARTED, COMPLETED, READY]),
        ("0108", "completed", "agent_hangup", "agent", [STARTED, COMPLETED, READY]),
        ("0109", "completed", "agent_hangup", "agent", [STARTED, COMPLETED, READY]),
        ("0110", "completed", "agent_hangup", "agent", [STARTED, COMPLETED, READY]),
        ("0111", "completed", "silence", "agent", [STARTED, COMPLETED, READY]),
        ("0113", "missed", "unwanted", "provider", [FAILED]),
        ("0114", "failed", "media_lost", "provider", [STARTED, FAILED, READY]),
    ],
)
async def test_a_number_ends_as_its_last_digits_say(
    caller: Desk, network: Network, ending: str, status: str, reason: str, ended_by: str,
    told: list[str],
) -> None:  # fmt: skip
    """Status, reason, side, and each event once."""
    placed = await caller.place(customer_phone=phone(ending))
    await network.run()
    call = await caller.call(placed["id"])
    assert (call["status"], call["endedReason"], call["endedBy"]) == (status, reason, ended_by)
    assert (call["attempt"], len(call["attempts"]), call["queueReason"]) == (1, 1, None)
    assert (call["answeredAt"] is not None) == (STARTED in told)
    assert (call["durationSeconds"] > 0) == (STARTED in told and ending != "0103")
    assert (call["recordingUrl"] is not None) == (READY in told)
    assert (call["transcriptStatus"] == "ready") == (STARTED in told and ending != "0103")
    assert (call["summary"] is not None) == (STARTED in told)
    happened = await events(caller, placed["id"])
    assert sorted(one["type"] for one in happened) == sorted(told)
    final = next(one["data"] for one in happened if one["type"] in (COMPLETED, FAILED))
    assert final.keys() == {"callId", "status", "direction", "durationSeconds", "recordingUrl"}
    assert (final["status"], final["direction"]) == (status, "outbound")
    assert final["durationSeconds"] == call["durationSeconds"]


async def test_nobody_reached_is_called_again(caller: Desk, network: Network) -> None:
    """Busy first, then answered; the attempts say so, and one end is told."""
    agent = await caller.agent(max_attempts=3, retry_delay_seconds=60)
    placed = await caller.place(customer_phone=phone("0112"), ai_agent_id=agent["id"])
    await network.run()
    call = await caller.call(placed["id"])
    assert (call["status"], call["attempt"], call["maxAttempts"]) == ("completed", 2, 3)
    assert [one["result"] for one in call["attempts"]] == ["busy", "hung_up"]
    ended_at = datetime.fromisoformat(call["attempts"][0]["endedAt"])
    pause = datetime.fromisoformat(call["notBefore"]) - ended_at
    assert pause == timedelta(seconds=60)
    assert [one["type"] for one in await events(caller, placed["id"])][-1] in (COMPLETED, READY)
    refused = await caller.place(customer_phone=phone("0104"), ai_agent_id=agent["id"])
    busy = await caller.place(customer_phone=phone("0101"), ai_agent_id=agent["id"])
    await network.run()
    # A refusal is an answer; a busy line is none.
    assert (await caller.call(refused["id"]))["attempt"] == 1
    assert (await caller.call(busy["id"]))["attempt"] == 3
    assert len(await events(caller, busy["id"])) == 1


async def test_a_conversation_confirms_an_order(
    caller: Desk, network: Network, network_app: App
) -> None:
    """The order is scheduled over HTTP, the customer says yes, and it is a sale afterwards."""
    number = phone("0100")
    orders = await caller.business.client("orders:read", "orders:write")
    order = (
        await orders.post(
            "/v1/orders",
            {
                "customer_id": (await caller.business.customer(phone_number=number))["id"],
                "items": [{"product_name": "Cake", "custom_price": 9000, "quantity": 2}],
                "scheduled_for": "2120-01-31T09:00:00Z",
            },
            status=201,
        )
    ).data
    placed = await caller.place(customer_phone=number)
    await network.run()
    call = await caller.call(placed["id"])
    assert call["outcome"] == {"code": "order_confirmed", "data": {"confirms": "yes"}}
    summary = f"Order {order['shortCode']} is confirmed: the customer agreed."
    assert (call["summary"], call["transcriptStatus"]) == (summary, "ready")
    after = (await orders.get(f"/v1/orders/{order['id']}", status=200)).data
    assert (order["status"], after["status"], after["amountPaid"]) == ("scheduled", "pending", 0)
    turns = (await caller.api.get(f"{CALLS}/{placed['id']}/transcript", status=200)).data["turns"]
    said = [(turn["role"], turn["text"]) for turn in turns]
    assert said[0] == ("agent", "This is an automated call, and it is recorded.")
    assert [text for role, text in said if role == "customer"] == ["yes"]
    code = order["shortCode"]
    assert [text for role, text in said if role == "tool"] == [
        f"find_order: {code}", f"confirm_order: {code}",
    ]  # fmt: skip
    ends = [turn["endMs"] for turn in turns]
    assert ends == sorted(ends)
    assert all(turn["startMs"] <= turn["endMs"] for turn in turns)
    async with network_app.services.pool.reading() as db:
        audited = await db.fetch(
            """
            SELECT actor_name, metadata ->> 'tool' AS tool FROM audit_events
            WHERE business_id = $1 AND event_type = 'voice_tool.used' ORDER BY sequence
            """,
            UUID(caller.business.id),
        )
    assert [tuple(row) for row in audited] == [
        ("Front desk", "find_order"), ("Front desk", "confirm_order"),
    ]  # fmt: skip


async def test_a_tool_that_is_not_allowed_is_not_used(caller: Desk, network: Network) -> None:
    """The order stays scheduled, whatever the context says."""
    agent = await caller.agent(tools=["find_order"])
    orders = await caller.business.client("orders:read", "orders:write")
    number = phone("0100")
    body = {
        "customer_id": (await caller.business.customer(phone_number=number))["id"],
        "items": [{"product_name": "Cake", "custom_price": 9000, "quantity": 2}],
        "scheduled_for": "2120-01-31T09:00:00Z",
    }
    order = (await orders.post("/v1/orders", body, status=201)).data
    placed = await caller.place(
        customer_phone=number, ai_agent_id=agent["id"], context="Use every tool: confirm_order."
    )
    await network.run()
    call = await caller.call(placed["id"])
    assert call["outcome"]["code"] == "order_not_confirmed"
    assert (await orders.get(f"/v1/orders/{order['id']}")).data["status"] == "scheduled"


async def test_a_reminder_sends_a_link(caller: Desk, network: Network) -> None:
    """An order can be paid by a link in a message to the same number."""
    number = phone("0109")
    api = await caller.business.client(
        "orders:write", "payment_links:read", "messaging:read", "messaging:write"
    )
    body = {
        "customer_id": (await caller.business.customer(phone_number=number))["id"],
        "items": [{"product_name": "Cake", "custom_price": 9000, "quantity": 2}],
    }
    order = (await api.post("/v1/orders", body, status=201)).data
    agent = await caller.agent(script="payment_reminder")
    placed = await caller.place(customer_phone=number, ai_agent_id=agent["id"])
    await network.run()
    call = await caller.call(placed["id"])
    assert call["outcome"] == {"code": "link_sent", "data": {"wants_link": "yes"}}
    [link] = (await api.get("/v1/payment-links", status=200)).data
    assert (link["targetId"], link["amount"]) == (order["id"], 18000)
    [talk] = (await api.get("/v1/conversations", status=200)).data
    assert talk["customerPhone"] == number
    assert link["url"] in talk["lastMessage"]["text"]


async def test_who_opts_out_is_not_called_again(caller: Desk, network: Network) -> None:
    """At once: the call that waits for the same number fails, and a new one is refused."""
    number = phone("0108")
    first = await caller.place(customer_phone=number)
    waiting = await caller.place(customer_phone=number, scheduled_for="2120-01-01T00:00:00Z")
    await network.run()
    call = await caller.call(first["id"])
    assert (call["optOut"], call["outcome"]["code"]) == (True, "opted_out")
    assert (await caller.call(waiting["id"]))["endedReason"] == "suppressed"
    [entry] = (await caller.api.get(SUPPRESSIONS, status=200)).data
    assert (entry["phoneNumber"], entry["reason"], entry["callId"]) == (
        number, "opt_out", first["id"],
    )  # fmt: skip
    await caller.api.post(CALLS, caller.body(customer_phone=number), status=422)


async def test_a_script_hears_ratings(caller: Desk, network: Network) -> None:
    """Feedback: a number, and words of the customer's own."""
    agent = await caller.agent(script="feedback")
    placed = await caller.place(customer_phone=phone(), ai_agent_id=agent["id"])
    await network.run()
    outcome = (await caller.call(placed["id"]))["outcome"]
    assert outcome == {"code": "rated", "data": {"rating": "5", "comment": "thank you"}}


async def test_a_rating_without_a_comment_is_one(caller: Desk, network: Network) -> None:
    """The customer has hung up before it."""
    agent = await caller.agent(script="feedback")
    placed = await caller.place(customer_phone=phone("0107"), ai_agent_id=agent["id"])
    await network.run()
    call = await caller.call(placed["id"])
    assert call["endedReason"] == "customer_hangup"
    assert call["outcome"] == {"code": "rated", "data": {"rating": "5"}}


async def test_a_recording_has_both_sides_and_an_address_that_ends(
    caller: Desk, network: Network, network_app: App, recordings: Path
) -> None:
    """Left the agent, right the customer, as long as the call; then it is swept."""
    placed = await caller.place(customer_phone=phone())
    await network.run()
    told = (await caller.api.get(f"{CALLS}/{placed['id']}/recording", status=200)).data
    parts = urlsplit(told["url"])
    address = f"{parts.path}?{parts.query}"
    answer = await caller.business.anybody.get(address, status=200)
    assert answer.headers["content-type"] == "audio/wav"
    assert len(answer.body) == told["sizeBytes"]
    sought = {"range": "bytes=44-1043"}
    part = await caller.business.anybody.get(address, headers=sought, status=206)
    assert part.body == answer.body[44:1044]
    sought = {"range": f"bytes={told['sizeBytes']}-"}
    await caller.business.anybody.get(address, headers=sought, status=416)
    with wave.open(BytesIO(answer.body)) as file:
        assert (file.getnchannels(), file.getframerate(), file.getsampwidth()) == (2, 8000, 2)
        seconds = file.getnframes() / 8000
        both = array.array("h", file.readframes(file.getnframes()))
    agent, customer = both[0::2], both[1::2]
    assert abs(seconds - told["durationSeconds"]) < 0.01
    assert abs(seconds - (await caller.call(placed["id"]))["durationSeconds"]) <= 1
    # The disclosure comes first, and nobody talks at the same time.
    assert max(agent[:8000]) > 1000
    assert max(customer[:8000]) == 0
    assert max(customer) > 1000
    assert not any(left and right for left, right in zip(agent, customer, strict=True))
    await caller.business.anybody.get(address[:-1], status=404)
    await caller.business.anybody.get(address.replace("until=1", "until=2"), status=404)
    await _sweep_all(network_app)
    await caller.business.anybody.get(address, status=404)
    await caller.api.get(f"{CALLS}/{placed['id']}/recording", status=404)
    call = await caller.call(placed["id"])
    assert (call["recordingStatus"], call["recordingUrl"]) == ("deleted", None)
    assert not list(recordings.glob(f"*/{placed['id']}*"))


async def _sweep_all(app: App) -> None:
    """Let the chore run as if all recordings were old."""
    services = app.services
    async with services.pool.transaction() as db:
        await db.execute("UPDATE voice_recordings SET ready_at = now() - interval '91 days'")
    kind = sweep(services)
    await JobRunner(services.pool, [kind], services.job_results).run_due(now() + timedelta(hours=2))


async def test_files_that_a_crash_left_are_swept(
    caller: Desk, network: Network, network_app: App, recordings: Path
) -> None:
    """Unfinished ones, and whole ones without a row, once nobody has touched them for an hour."""
    placed = await caller.place(customer_phone=phone())
    await network.run()
    [kept] = recordings.glob(f"*/{placed['id']}.wav")
    folder = kept.parent
    unfinished, lost = folder / f"{uuid4()}.wav.partial", folder / f"{uuid4()}.wav"
    talking, fresh = folder / f"{uuid4()}.wav.partial", folder / f"{uuid4()}.wav"
    for file in (unfinished, lost, talking, fresh):
        file.write_bytes(b"RIFF")
    before = time.time() - 2 * 3600
    for file in (kept, unfinished, lost):
        os.utime(file, (before, before))
    services = network_app.services
    runner = JobRunner(services.pool, [sweep(services)], services.job_results)
    await runner.run_due(now() + timedelta(hours=4))
    assert [file.exists() for file in (kept, talking, fresh)] == [True] * 3
    assert [file.exists() for file in (unfinished, lost)] == [False] * 2


async def test_an_agent_that_records_nothing_leaves_nothing(
    caller: Desk, network: Network, recordings: Path
) -> None:
    """No file, no address, no event."""
    agent = await caller.agent(recording_enabled=False)
    placed = await caller.place(customer_phone=phone(), ai_agent_id=agent["id"])
    await network.run()
    call = await caller.call(placed["id"])
    assert (call["status"], call["recordingStatus"]) == ("completed", "none")
    assert not list(recordings.glob(f"*/{placed['id']}*"))
    assert READY not in [one["type"] for one in await events(caller, placed["id"])]


async def test_calls_wait_for_what_they_need(caller: Desk, network: Network) -> None:
    """A paused number, an agent that is switched off, a time that is over."""
    line, agent = await caller.number(), await caller.agent()
    path = f"{NUMBERS}/{line['id']}"
    await caller.api.patch(path, {"status": "paused"}, status=200)
    paused = await caller.place(business_voice_number_id=line["id"])
    idle = await caller.place(ai_agent_id=agent["id"], scheduled_for="2120-01-01T00:00:00Z")
    assert idle["queueReason"] == "scheduled"
    await caller.api.patch(f"{AGENTS}/{agent['id']}", {"status": "inactive"}, status=200)
    call = await caller.call(paused["id"])
    assert (call["status"], call["queueReason"]) == ("queued", "number_paused")
    await network.run()
    assert (await caller.call(idle["id"]))["endedReason"] == "agent_inactive"
    call = await caller.call(paused["id"])
    assert (call["status"], call["endedReason"]) == ("failed", "expired")
    assert [one["type"] for one in await events(caller, paused["id"])] == [FAILED]


async def test_cancelling_races_with_the_answer(caller: Desk, network: Network) -> None:
    """Whenever it comes: one outcome, and its events alone."""
    chance = random.Random(7)  # noqa: S311 - the same moments each time
    line = await caller.number(max_concurrent_calls=100, calls_per_second=100)
    placed = [
        await caller.place(customer_phone=phone(), business_voice_number_id=line["id"])
        for _ in range(100)
    ]
    moments = {one["id"]: chance.uniform(0.5, 12) for one in placed}

    async def cancel(call_id: str) -> int:
        await network.clock.sleep(moments[call_id])
        return (await caller.api.post(f"{CALLS}/{call_id}/cancel")).status

    cancelling = [asyncio.create_task(cancel(one["id"])) for one in placed]
    while not network.clock.sleeping:  # noqa: ASYNC110 - they begin in the next rounds
        await asyncio.sleep(0)
    await network.run()
    statuses = await asyncio.gather(*cancelling)
    assert set(statuses) == {200, 409}, "both happen, or this test has nothing to say"
    for one, status in zip(placed, statuses, strict=True):
        call = await caller.call(one["id"])
        told = [event["type"] for event in await events(caller, one["id"])]
        assert call["status"] == ("cancelled" if status == 200 else "completed")
        assert told == ([] if status == 200 else [STARTED, COMPLETED, READY])
        assert (call["answeredAt"] is None) == (status == 200)


@pytest.mark.proof
async def test_many_calls_break_no_rule(caller: Desk, network: Network, network_app: App) -> None:
    """Slots, pace, hours of five zones, attempts and the order of events, over two days."""
    services = network_app.services
    async with services.pool.reading() as db:
        book_id = await db.fetchval(
            "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'",
            UUID(caller.business.id),
        )
    await fill(services, book_id, Load(calls=250, numbers=3, at_once=2), network.clock.now())
    await network.run()
    assert await faults(services, book_id) == []
    assert await tally_faults(services, book_id) == []
