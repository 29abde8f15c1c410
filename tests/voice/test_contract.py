"""Calls as the contract tells of them: every field, every status, every wrong value."""

import re
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest

from tests.make import Business
from tests.voice.desk import AGENTS, CALLS, NUMBERS, SUPPRESSIONS, Desk, phone

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_CALL: dict[str, tuple[type, ...]] = {
    "id": (str,), "status": (str,), "queueReason": (str, type(None)), "direction": (str,),
    "customer": (dict,), "purpose": (str,), "context": (str, type(None)),
    "orderId": (str, type(None)), "reservationId": (str, type(None)),
    "voiceNumber": (dict,), "agent": (dict,), "provider": (str,),
    "providerCallId": (str, type(None)), "attempt": (int,), "maxAttempts": (int,),
    "attempts": (list,), "scheduledFor": (str, type(None)), "notBefore": (str,),
    "notAfter": (str,), "summary": (str, type(None)), "transcriptStatus": (str,),
    "idempotencyKey": (str, type(None)),
    "dialedAt": (str, type(None)), "ringingAt": (str, type(None)),
    "answeredAt": (str, type(None)), "endedAt": (str, type(None)), "durationSeconds": (int,),
    "endedReason": (str, type(None)), "endedBy": (str, type(None)),
    "answeredBy": (str, type(None)), "outcome": (dict, type(None)), "optOut": (bool,),
    "recordingStatus": (str,), "recordingUrl": (str, type(None)), "metadata": (dict,),
    "createdAt": (str,), "updatedAt": (str,),
}  # fmt: skip
_FINAL = {"completed", "failed", "missed", "cancelled"}


def _is_whole(call: dict[str, Any]) -> bool:
    assert _CALL.items() >= {(name, _CALL[name]) for name in call}, call.keys() - _CALL.keys()
    assert call.keys() >= _CALL.keys(), _CALL.keys() - call.keys()
    for name, types in _CALL.items():
        assert type(call[name]) in types, (name, call[name])
        if name.endswith("At") and call[name] is not None:
            assert _MOMENT.fullmatch(call[name]), (name, call[name])
    assert call["customer"].keys() == {"id", "name", "phoneNumber"}
    assert call["voiceNumber"].keys() == {"id", "phoneNumber"}
    assert call["agent"].keys() == {"id", "name"}
    assert (call["endedAt"] is not None) == (call["status"] in _FINAL)
    return True


async def test_a_call_is_the_same_wherever_it_is_read(desk: Desk) -> None:
    """In the answer that queues it, alone, in a list, and cancelled."""
    answer = await desk.api.post(CALLS, desk.body(customer_name="Ada", context="Cake"), status=202)
    assert answer.json.keys() >= {"message", "data"}
    call = answer.data
    assert _is_whole(call)
    assert await desk.call(call["id"]) == call
    [listed] = (await desk.api.get(CALLS, status=200)).data
    assert listed == call
    ended = (await desk.api.post(f"{CALLS}/{call['id']}/cancel", status=200)).data
    assert _is_whole(ended)


async def test_without_a_key_two_requests_are_two_calls(desk: Desk) -> None:
    """The key alone says that it is the same call; one key in each environment is another's."""
    body = desk.body()
    one, two = [(await desk.api.post(CALLS, body, status=202)).data["id"] for _ in range(2)]
    assert one != two


async def test_a_refused_key_can_be_used_again(desk: Desk) -> None:
    """A refusal isn't kept: the corrected request is a call."""
    headers = {"idempotency-key": str(uuid4())}
    await desk.api.post(CALLS, desk.body(customer_phone="1"), headers=headers, status=422)
    await desk.api.post(CALLS, desk.body(), headers=headers, status=202)


async def test_a_replay_shows_the_call_as_it_is_now(desk: Desk) -> None:
    """200, and the key stays with its call after the end."""
    headers = {"idempotency-key": str(uuid4())}
    body = desk.body()
    call = (await desk.api.post(CALLS, body, headers=headers, status=202)).data
    await desk.api.post(f"{CALLS}/{call['id']}/cancel", status=200)
    again = await desk.api.post(CALLS, body, headers=headers, status=200)
    assert again.data["id"] == call["id"]
    assert (await desk.api.get(CALLS, status=200)).json["meta"]["total"] == 1


_IDS = ("", "x", 7, [], str(UUID(int=0)))
_FULLWIDTH = "".join(chr(0xFF10 + int(digit)) for digit in "2348030000100")
_WRONG: dict[str, tuple[Any, ...]] = {
    "customer_phone": (
        "", " ", "+", "++2348030000100", "+23480300001001234567", "+99912345678",
        "+2348030000100 ", " +2348030000100", "tel:+2348030000100", "+234803000010O",
        "+" + _FULLWIDTH, "+2348030000100;ext=1", "+2348030000100\n", "+1911",
        "002348030000100", "anonymous", "sip:", "sips:ada@example.com", True, 2.5, [], {},
        None, "+" + "2" * 4000,
    ),
    "purpose": ("", "\n", "p" * 501, 7, False, [], None, "a\u0000b"),
    "context": ("c" * 4001, 7, {}, ["a"], "a\u0000b"),
    "customer_name": (7, {}, "n" * 1000, "a\nb", "a\u0000b"),
    "business_voice_number_id": (*_IDS, None),
    "ai_agent_id": (*_IDS, None),
    "order_id": _IDS,
    "scheduled_for": (
        "", "soon", 7, "2099-13-01T00:00:00Z", "1999-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
        "2120-01-01T00:00:00", "0001-01-01T00:00:00Z",
    ),
    "not_after": ("", "soon", 7, "0001-01-01T00:00:00Z", "2099-02-30T00:00:00Z"),
    "max_attempts": (0, -1, 11, "3", 1.5, True, 10**30),
    "metadata": (
        [], "x", {"": "x"}, {"a": 7}, {"a b": "x"}, {"a": "x" * 501}, {"k" * 41: "x"},
        {f"k{n}": "x" for n in range(21)}, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("field", _WRONG)
async def test_each_wrong_value_is_named(desk: Desk, field: str) -> None:
    """422 with the field's name, or 400 where it is no JSON; no call is queued."""
    odd: list[Any] = []
    for value in _WRONG[field]:
        answer = await desk.api.post(CALLS, {**desk.body(), field: value})
        names: set[str] = set()
        if answer.status == 422:
            names = {name.partition(".")[0].partition("[")[0] for name in answer.wrong_fields}
        if answer.status != 400 and names != {field}:
            odd.append((value, answer.status, answer.json))
    assert not odd
    assert (await desk.api.get(CALLS, status=200)).json["meta"]["total"] == 0


async def test_the_longest_texts_are_taken(desk: Desk) -> None:
    """Lengths are of characters, whatever they take in bytes."""
    call = await desk.place(purpose="é" * 500, context="🎂" * 4000, max_attempts=10)
    assert (call["purpose"], call["context"]) == ("é" * 500, "🎂" * 4000)


async def test_several_wrong_fields_are_named_at_once(desk: Desk) -> None:
    """Form and facts together."""
    await desk.api.post(SUPPRESSIONS, {"phone_number": "+2348030000199"}, status=201)
    agent = await desk.agent(status="inactive")
    body = desk.body(
        customer_phone="+2348030000199", ai_agent_id=agent["id"], purpose="p" * 501,
        business_voice_number_id=str(uuid4()), order_id=str(uuid4()),
    )  # fmt: skip
    answer = await desk.api.post(CALLS, body, status=422)
    assert answer.wrong_fields == {
        "customer_phone", "ai_agent_id", "purpose", "business_voice_number_id", "order_id",
    }  # fmt: skip


async def test_the_other_environment_knows_none_of_it(business: Business, desk: Desk) -> None:
    """A live key finds neither number nor agent nor call of the test book."""
    live = await business.client("voice:read", "voice:calls:read", "voice:calls:create",
                                 environment="live")  # fmt: skip
    call = await desk.place()
    for path in (f"{CALLS}/{call['id']}", f"{CALLS}/{call['id']}/transcript",
                 f"{CALLS}/{call['id']}/recording", f"{NUMBERS}/{desk.number_id}",
                 f"{AGENTS}/{desk.agent_id}"):  # fmt: skip
        await live.get(path, status=404)
    await live.post(f"{CALLS}/{call['id']}/cancel", status=404)
    assert (await live.get(CALLS, status=200)).data == []
    answer = await live.post(CALLS, desk.body(), status=422)
    assert answer.wrong_fields == {"business_voice_number_id", "ai_agent_id"}


async def test_each_wrong_filter_is_named(desk: Desk) -> None:
    """422 with its name."""
    odd: list[Any] = []
    for query in (
        "page=0", "page=x", "limit=101", "limit=-1", "status=", "status=Queued",
        "status=queued,,failed", "direction=both", "ai_agent_id=7", "business_voice_number_id=",
        "customer_phone=0803", "customer_id=x", "start_date=2026-02-30", "end_date=x",
        "ended_reason=Busy!", "search=" + "s" * 500,
    ):  # fmt: skip
        answer = await desk.api.get(f"{CALLS}?{query}")
        wanted = query.partition("=")[0]
        if answer.status != 422 or {n.partition("[")[0] for n in answer.wrong_fields} != {wanted}:
            odd.append((query, answer.status, answer.json))
    assert not odd


async def test_pages_cover_the_list_once(desk: Desk) -> None:
    """Fifty without a limit, a hundred at most; statuses by commas or repeated."""
    made = [(await desk.place(customer_phone=phone()))["id"] for _ in range(53)]
    first = await desk.api.get(CALLS, status=200)
    assert first.json["meta"] == {
        "total": 53, "page": 1, "perPage": 50, "totalPages": 2, "hasMore": True,
    }  # fmt: skip
    second = await desk.api.get(f"{CALLS}?page=2", status=200)
    assert [one["id"] for one in first.data + second.data] == made[::-1]
    beyond = await desk.api.get(f"{CALLS}?page=9", status=200)
    assert (beyond.data, beyond.json["meta"]["total"]) == ([], 53)
    whole = await desk.api.get(f"{CALLS}?limit=100", status=200)
    assert len(whole.data) == 53
    await desk.api.post(f"{CALLS}/{made[0]}/cancel", status=200)
    repeated = await desk.api.get(f"{CALLS}?status=queued&status=cancelled&limit=100", status=200)
    assert len(repeated.data) == 53
    one = whole.data[5]
    path = f"{CALLS}?customer_phone={quote(one['customer']['phoneNumber'])}"
    assert [found["id"] for found in (await desk.api.get(path, status=200)).data] == [one["id"]]
