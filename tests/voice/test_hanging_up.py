"""Calls that are ended from outside while somebody talks, and numbers that are too dear to call."""

from datetime import datetime

import pytest

from tests.voice.desk import CALLS, NUMBERS, Desk, phone
from tests.voice.virtual import Network


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
