"""Calls that are ended from outside while somebody talks, and numbers that are too dear to call."""

import asyncio
from datetime import datetime
from typing import Any

import pytest

from tests.make import Make
from tests.voice.desk import CALLS, NUMBERS, Desk, phone
from tests.voice.virtual import Network
from tillhouse.app import App


async def test_an_answered_call_is_hung_up(caller: Desk, network: Network) -> None:
    """Whichever process makes it ends it; a call that has ended can't be hung up."""
    placed = await caller.place(customer_phone=phone("0111"))
    path = f"{CALLS}/{placed['id']}/hangup"
    hung_up: list[datetime] = []

    # Left alone, it would end by silence.
    async def tell(at: datetime) -> None:
        if not hung_up and (await caller.call(placed["id"]))["status"] == "in_progress":
            asked = (await caller.api.post(path, status=200)).data
            assert asked["status"] == "in_progress"
            await caller.api.post(path, status=200)
            hung_up.append(at)

    await network.run(tell)
    call = await caller.call(placed["id"])
    assert (call["status"], call["endedReason"], call["endedBy"]) == (
        "completed", "agent_hangup", "agent",
    )  # fmt: skip
    assert hung_up
    await caller.api.post(path, status=409)


async def test_hanging_up_before_the_answer_cancels(desk: Desk) -> None:
    """Nothing is left that could be answered."""
    placed = await desk.place()
    path = f"{CALLS}/{placed['id']}/hangup"
    assert (await desk.api.post(path, status=200)).data["status"] == "cancelled"
    assert (await desk.api.post(path, status=200)).data["status"] == "cancelled"


@pytest.mark.parametrize("seen", ["dialing", "ringing", "in_progress"])
async def test_a_call_is_hung_up_by_many_at_once(
    caller: Desk, network: Network, network_app: App, seen: str
) -> None:
    """While it is dialled, rings or is answered: it ends once, and each of them is told so."""
    other = await Desk.open(await Make(network_app, network_app.services).business())
    placed = await caller.place(customer_phone=phone("0111"))
    path = f"{CALLS}/{placed['id']}/hangup"
    told: list[Any] = []

    async def tell(_: datetime) -> None:
        if not told and (await caller.call(placed["id"]))["status"] == seen:
            await other.api.post(path, status=404)
            told.extend(await asyncio.gather(*(caller.api.post(path) for _ in range(5))))

    await network.run(tell)
    call = await caller.call(placed["id"])
    assert [one.status for one in told] == [200] * 5
    if seen == "in_progress":
        assert (call["status"], call["endedReason"]) == ("completed", "agent_hangup")
    else:
        assert (call["status"], call["answeredAt"]) == ("cancelled", None)


@pytest.mark.parametrize("dear", ["+881621450000", "+870776000000", "+19005550123"])
async def test_dear_numbers_are_called_where_they_are_allowed(desk: Desk, dear: str) -> None:
    """Satellites and premium rates: the beginning stands in the settings of the voice number."""
    body = {
        "customer_phone": dear, "purpose": "A call", "business_voice_number_id": desk.number_id,
        "ai_agent_id": desk.agent_id,
    }  # fmt: skip
    answer = await desk.api.post(CALLS, body, status=422)
    assert answer.wrong_fields == {"customer_phone"}
    allowed = {"allowed_prefixes": [dear[:5]]}
    number = (await desk.api.patch(f"{NUMBERS}/{desk.number_id}", allowed, status=200)).data
    assert number["allowedPrefixes"] == [dear[:5]]
    await desk.api.post(CALLS, body, status=202)
