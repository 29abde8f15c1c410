"""Calls: placed once, listed by what one looks for, cancelled as long as nobody has answered."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.make import Business, Make
from tests.voice.desk import AGENTS, CALLS, SUPPRESSIONS, Desk, phone
from tillhouse.access.process import Services


async def test_a_call_is_queued(desk: Desk) -> None:
    """202 with the call as it waits; nothing has happened yet."""
    customer = await desk.business.customer(phone_number="+2348030007001", name="Bola Ahmed")
    call = await desk.place(
        customer_phone="+2348030007001", context="Two cakes", metadata={"cart": "7"}
    )
    assert (call["status"], call["direction"], call["attempt"]) == ("queued", "outbound", 0)
    assert call["customer"] == {
        "id": customer["id"], "name": "Bola Ahmed", "phoneNumber": "+2348030007001",
    }  # fmt: skip
    assert call["voiceNumber"] == {"id": desk.number_id, "phoneNumber": "+15550110000"}
    assert call["agent"] == {"id": desk.agent_id, "name": "Front desk"}
    assert (call["metadata"], call["context"]) == ({"cart": "7"}, "Two cakes")
    assert (call["attempts"], call["recordingUrl"], call["outcome"]) == ([], None, None)
    assert await desk.call(call["id"]) == call
    turns = await desk.api.get(f"{CALLS}/{call['id']}/transcript", status=200)
    assert turns.data == {"callId": call["id"], "turns": []}
    await desk.api.get(f"{CALLS}/{call['id']}/recording", status=404)


async def test_a_call_says_when_it_may_begin_and_which_key_placed_it(desk: Desk) -> None:
    """At once, or when it is scheduled; a call without a key shows none."""
    headers = {"idempotency-key": "tomorrow-7"}
    call = (await desk.api.post(CALLS, desk.body(), headers=headers, status=202)).data
    assert (call["idempotencyKey"], call["notBefore"]) == ("tomorrow-7", call["createdAt"])
    assert (call["transcriptStatus"], call["summary"]) == ("none", None)
    later = "2120-01-31T09:00:00.000Z"
    other = await desk.place(scheduled_for=later)
    assert (other["idempotencyKey"], other["notBefore"]) == (None, later)


async def test_a_call_says_what_it_waits_for(desk: Desk, services: Services) -> None:
    """Nothing while a slot is free: it is dialled in a moment."""
    number = await desk.number(max_concurrent_calls=1)
    first = await desk.place(business_voice_number_id=number["id"])
    second = await desk.place(business_voice_number_id=number["id"])
    assert (first["queueReason"], second["queueReason"]) == (None, None)
    async with services.pool.transaction() as db:
        await db.execute(
            """
            UPDATE voice_calls SET status = 'dialing', lease_until = now() + interval '1 hour'
            WHERE id = $1
            """,
            UUID(first["id"]),
        )
    assert (await desk.call(second["id"]))["queueReason"] == "concurrency"
    async with services.pool.transaction() as db:
        await db.execute(
            "UPDATE voice_numbers SET next_dial_at = now() + interval '1 hour' WHERE id = $1",
            UUID(number["id"]),
        )
    assert (await desk.call(second["id"]))["queueReason"] == "rate"


async def test_fifty_equal_keys_are_one_call(desk: Desk) -> None:
    """At once: one 202, and 200 with the same call for all others; another body is refused."""
    headers = {"idempotency-key": str(uuid4())}
    body = desk.body()
    answers = await asyncio.gather(
        *(desk.api.post(CALLS, body, headers=headers) for _ in range(50))
    )
    assert sorted(answer.status for answer in answers) == [200] * 49 + [202]
    assert len({answer.data["id"] for answer in answers}) == 1
    assert (await desk.api.get(CALLS, status=200)).json["meta"]["total"] == 1
    other = {**body, "purpose": "Another one"}
    answer = await desk.api.post(CALLS, other, headers=headers, status=422)
    assert answer.error == "idempotency_key_reused"


async def test_a_key_is_one_call_for_ever(desk: Desk, services: Services) -> None:
    """Also once the kept answers were swept."""
    headers = {"idempotency-key": str(uuid4())}
    body = desk.body()
    first = await desk.api.post(CALLS, body, headers=headers, status=202)
    async with services.pool.transaction() as db:
        await db.execute("DELETE FROM idempotency_keys WHERE key = $1", headers["idempotency-key"])
    again = await desk.api.post(CALLS, body, headers=headers, status=200)
    assert (again.data["id"], again.headers["idempotent-replayed"]) == (first.data["id"], "true")


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"customer_phone": "08030000000"}, {"customer_phone"}),
        ({"customer_phone": "+0123456789"}, {"customer_phone"}),
        ({"customer_phone": "+2348"}, {"customer_phone"}),
        ({"customer_phone": "+234 803 000 0000"}, {"customer_phone"}),
        ({"customer_phone": 2348030000000}, {"customer_phone"}),
        ({"customer_phone": "sip:ada@192.0.2.1"}, {"customer_phone"}),
        ({"customer_name": ["Ada"]}, {"customer_name"}),
        ({"purpose": " "}, {"purpose"}),
        ({"purpose": "p" * 501}, {"purpose"}),
        ({"purpose": {}}, {"purpose"}),
        ({"context": "c" * 4001}, {"context"}),
        ({"context": 1}, {"context"}),
        ({"business_voice_number_id": "one"}, {"business_voice_number_id"}),
        ({"business_voice_number_id": str(UUID(int=7))}, {"business_voice_number_id"}),
        ({"ai_agent_id": None}, {"ai_agent_id"}),
        ({"ai_agent_id": str(UUID(int=7))}, {"ai_agent_id"}),
        ({"order_id": str(UUID(int=7))}, {"order_id"}),
        ({"scheduled_for": "2020-01-01T00:00:00Z"}, {"scheduled_for"}),
        ({"scheduled_for": "tomorrow"}, {"scheduled_for"}),
        ({"not_after": "2020-01-01T00:00:00Z"}, {"not_after"}),
        ({"max_attempts": 0}, {"max_attempts"}),
        ({"metadata": {"n": 1}}, {"metadata"}),
        ({"colour": "red"}, {"colour"}),
        (
            {"customer_phone": "1", "purpose": "", "ai_agent_id": str(UUID(int=7))},
            {"customer_phone", "purpose", "ai_agent_id"},
        ),
    ],
)
async def test_wrong_fields_are_named(desk: Desk, fields: dict[str, Any], wrong: set[str]) -> None:
    """Each of them, and no call is queued."""
    answer = await desk.api.post(CALLS, desk.body(**fields), status=422)
    assert {name.partition(".")[0].partition("[")[0] for name in answer.wrong_fields} == wrong
    assert (await desk.api.get(CALLS, status=200)).json["meta"]["total"] == 0


@pytest.mark.parametrize("field", ["customer_phone", "purpose", "business_voice_number_id",
                                   "ai_agent_id"])  # fmt: skip
async def test_a_missing_field_is_named(desk: Desk, field: str) -> None:
    """The four that a call needs."""
    body = desk.body()
    del body[field]
    answer = await desk.api.post(CALLS, body, status=422)
    assert answer.wrong_fields == {field}


async def test_numbers_and_agents_of_others_are_unknown(desk: Desk, make: Make) -> None:
    """Of another business, and deleted ones."""
    stranger = await Desk.open(await make.business())
    foreign = desk.body(business_voice_number_id=stranger.number_id, ai_agent_id=stranger.agent_id)
    answer = await desk.api.post(CALLS, foreign, status=422)
    assert answer.wrong_fields == {"business_voice_number_id", "ai_agent_id"}
    gone = await desk.agent()
    await desk.api.delete(f"{AGENTS}/{gone['id']}", status=200)
    answer = await desk.api.post(CALLS, desk.body(ai_agent_id=gone["id"]), status=422)
    assert answer.wrong_fields == {"ai_agent_id"}


async def test_an_inactive_agent_calls_nobody(desk: Desk) -> None:
    """The answer says that it must be activated."""
    agent = await desk.agent(status="inactive")
    answer = await desk.api.post(CALLS, desk.body(ai_agent_id=agent["id"]), status=422)
    assert answer.wrong_fields == {"ai_agent_id"}
    assert "activate" in answer.json["details"][0]["message"]


async def test_a_suppressed_number_is_not_called(desk: Desk) -> None:
    """Until it is taken from the list."""
    number = phone()
    entry = await desk.api.post(SUPPRESSIONS, {"phone_number": number}, status=201)
    answer = await desk.api.post(CALLS, desk.body(customer_phone=number), status=422)
    assert answer.wrong_fields == {"customer_phone"}
    await desk.api.post(SUPPRESSIONS, {"phone_number": number}, status=409)
    listed = await desk.api.get(f"{SUPPRESSIONS}?phone_number=%2B{number[1:]}", status=200)
    assert [one["id"] for one in listed.data] == [entry.data["id"]]
    await desk.api.delete(f"{SUPPRESSIONS}/{entry.data['id']}", status=200)
    await desk.api.delete(f"{SUPPRESSIONS}/{entry.data['id']}", status=404)
    await desk.place(customer_phone=number)


async def test_a_call_is_cancelled_once(desk: Desk) -> None:
    """Again changes nothing; another business's is missing."""
    call = await desk.place()
    path = f"{CALLS}/{call['id']}/cancel"
    ended = (await desk.api.post(path, status=200)).data
    assert (ended["status"], ended["endedReason"], ended["endedBy"]) == (
        "cancelled", "cancelled", "system",
    )  # fmt: skip
    assert (await desk.api.post(path, status=200)).data == ended
    await desk.api.post(f"{CALLS}/{UUID(int=7)}/cancel", status=404)


async def test_an_answered_call_is_not_cancelled(desk: Desk, services: Services) -> None:
    """Nor one that has ended: 409, and it stays as it is."""
    call = await desk.place()
    path = f"{CALLS}/{call['id']}/cancel"
    async with services.pool.transaction() as db:
        await db.execute(
            "UPDATE voice_calls SET status = 'in_progress', answered_at = now() WHERE id = $1",
            UUID(call["id"]),
        )
    await desk.api.post(path, status=409)
    async with services.pool.transaction() as db:
        await db.execute(
            "UPDATE voice_calls SET status = 'completed', ended_at = now() WHERE id = $1",
            UUID(call["id"]),
        )
    await desk.api.post(path, status=409)
    assert (await desk.call(call["id"]))["status"] == "completed"


async def _ended(services: Services, call: dict[str, Any], status: str, reason: str) -> None:
    async with services.pool.transaction() as db:
        await db.execute(
            """
            UPDATE voice_calls SET status = $2, ended_reason = $3, ended_at = now() WHERE id = $1
            """,
            UUID(call["id"]),
            status,
            reason,
        )


async def test_a_list_finds_what_is_looked_for(desk: Desk, services: Services) -> None:
    """By each filter alone and with others, in pages, and the total is right."""
    number, agent = await desk.number(), await desk.agent()
    customer = await desk.business.customer(phone_number="+2348030007009", name="Zainab Musa")
    first = await desk.place(customer_phone="+2348030007009")
    second = await desk.place(
        business_voice_number_id=number["id"], ai_agent_id=agent["id"], purpose="Ask for feedback"
    )
    third = await desk.place(customer_name="Chidi Okeke")
    await _ended(services, second, "missed", "busy")
    await _ended(services, third, "completed", "customer_hangup")
    today = datetime.now(UTC).date()
    tomorrow, yesterday = today + timedelta(days=1), today - timedelta(days=1)

    async def found(query: str) -> list[int]:
        answer = await desk.api.get(f"{CALLS}?{query}", status=200)
        ids = [one["id"] for one in answer.data]
        assert answer.json["meta"]["total"] == len(ids), query
        return [[first["id"], second["id"], third["id"]].index(one) + 1 for one in ids]

    assert await found("") == [3, 2, 1]
    assert await found("status=missed") == [2]
    assert await found("status=completed,queued") == [3, 1]
    assert await found(f"ai_agent_id={agent['id']}") == [2]
    assert await found(f"business_voice_number_id={desk.number_id}") == [3, 1]
    assert await found(f"business_voice_number_id={desk.number_id}&status=queued") == [1]
    assert await found("customer_phone=%2B2348030007009") == [1]
    assert await found(f"customer_id={customer['id']}") == [1]
    assert await found("ended_reason=busy") == [2]
    assert await found("search=chid") == [3]
    assert await found("search=feedb&status=missed") == [2]
    assert await found("direction=outbound") == [3, 2, 1]
    assert await found("direction=inbound") == []
    assert await found(f"start_date={yesterday}&end_date={tomorrow}") == [3, 2, 1]
    assert await found(f"start_date={tomorrow}") == []
    assert await found(f"end_date={yesterday}") == []
    page = await desk.api.get(f"{CALLS}?limit=2&page=2&status=completed,missed,queued", status=200)
    assert [one["id"] for one in page.data] == [first["id"]]
    assert page.json["meta"] == {
        "total": 3, "page": 2, "perPage": 2, "totalPages": 2, "hasMore": False,
    }  # fmt: skip


async def test_wrong_filters_are_named(desk: Desk) -> None:
    """Every one of them."""
    query = "status=sleeping&ai_agent_id=x&customer_phone=1&start_date=soon&ended_reason=NO&limit=0"
    answer = await desk.api.get(f"{CALLS}?{query}", status=422)
    assert {name.partition("[")[0] for name in answer.wrong_fields} == {
        "status", "ai_agent_id", "customer_phone", "start_date", "ended_reason", "limit",
    }  # fmt: skip


async def test_scopes_are_apart(business: Business, desk: Desk) -> None:
    """Reading calls, placing them, and changing agents are three rights."""
    reader = await business.client("voice:calls:read")
    await reader.get(CALLS, status=200)
    await reader.post(CALLS, desk.body(), status=403)
    await reader.get("/v1/voice/numbers", status=403)
    caller = await business.client("voice:calls:create")
    await caller.post(CALLS, desk.body(), status=202)
    await caller.get(CALLS, status=403)
    await caller.post(AGENTS, {"name": "Agent"}, status=403)


async def test_a_text_that_cannot_be_kept_is_named(desk: Desk) -> None:
    """Also where it stands within something else, and in words for people."""
    answer = await desk.api.post(CALLS, desk.body(metadata={"cart": "7\u0000"}), status=422)
    assert answer.json["details"] == [
        {"field": "metadata.cart", "message": "holds a control character or half a surrogate"}
    ]
