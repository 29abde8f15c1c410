"""Calls over a SIP line that a machine answers, from the API to the end, with the sound as sent."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import fresh_database
from tests.providers.telephony.sip.peer import peer
from tests.tools import needs
from tests.voice.callee import Callee, answered
from tests.voice.desk import AGENTS, Desk
from tests.voice.live import Live, installation
from tests.voice.speech.wire import speech, tone

pytestmark = [pytest.mark.proof, needs("espeak-ng")]
_BEEP_S = 4.9
# Less than the disclosure and the message take to say, without any pause.
_WORDS_S = 5.0
# A machine that picks up, waits, greets for four seconds, and beeps; another one only greets, for
# seven.
_BEEPS = bytes(6400) + speech(4.0) + bytes(8000) + tone(1000, 0.4)
_GREETS = bytes(6400) + speech(7.0)
# One that is silent until it was asked, and then only says a little before its beep.
_LATE = bytes(16_000 * 9) + speech(1.6) + bytes(3200) + tone(1000, 0.4)


@pytest.fixture
async def live(server_url: str, master_key: str, tmp_path: Path) -> AsyncIterator[Live]:
    """An installation on this machine, whose telephones are on it as well."""
    async with (
        fresh_database(server_url, "tillhouse_voicemail") as url,
        installation(url, master_key, tmp_path, VOICE_ALLOW_TARGETS="127.0.0.1") as made,
    ):
        yield made


async def _call(
    live: Live, greeting: bytes, action: str
) -> tuple[dict[str, Any], list[Any], Callee]:
    """The call once it is over, its turns, and the machine."""
    async with peer() as theirs:
        desk = await live.desk("sip", {"host": "127.0.0.1", "port": str(theirs.port)})
        change = {"voicemail_action": action, "silence_timeout_seconds": 5}
        await desk.api.patch(f"{AGENTS}/{desk.agent_id}", change, status=200)
        call = await desk.place(purpose="The table of tonight")
        async with answered(theirs) as machine:
            machine.says(greeting)
            theirs.reply(await theirs.got("BYE"), 200)
        over = await live.ended(desk, call["id"])
        return over, await _turns(desk, call["id"]), machine


async def _turns(desk: Desk, call_id: str) -> list[Any]:
    said = await desk.api.get(f"/v1/voice/calls/{call_id}/transcript", status=200)
    return [one for one in said.data["turns"] if one["role"] == "agent"]


@pytest.mark.parametrize("greeting", [_BEEPS, _GREETS], ids=["beep", "length"])
async def test_a_machine_gets_the_message_once_it_records(live: Live, greeting: bytes) -> None:
    """It is asked nothing; the disclosure and the message are said after its greeting."""
    over, turns, machine = await _call(live, greeting, "leave_message")
    assert (over["status"], over["endedReason"], over["endedBy"], over["answeredBy"]) == (
        "completed", "voicemail", "agent", "machine",
    )  # fmt: skip
    assert over["outcome"]["code"] == "message_left"
    disclosure, again, message = turns[0], turns[-2], turns[-1]
    assert again["text"] == disclosure["text"]
    assert "The table of tonight" in message["text"]
    assert not any("?" in turn["text"] for turn in turns)
    greeted_ms = 1000 * len(greeting) / 16_000
    assert again["startMs"] >= greeted_ms - 200
    told_s = (message["endMs"] - again["startMs"]) / 1000
    # The words take that long whatever the pauses between two sentences are.
    audible_s = machine.audible_s(again["startMs"] / 1000 - 0.2)
    assert _WORDS_S < audible_s < told_s + 0.5


async def test_a_machine_is_hung_up_on(live: Live) -> None:
    """Nothing is said after its beep."""
    over, turns, machine = await _call(live, _BEEPS, "hang_up")
    assert (over["endedReason"], over["answeredBy"]) == ("voicemail", "machine")
    assert over["outcome"]["code"] == "voicemail"
    assert not any("?" in turn["text"] for turn in turns)
    assert machine.audible_s(_BEEP_S + 0.4) == 0


async def test_a_machine_that_greets_late_is_asked_once(live: Live) -> None:
    """It is found out by its beep, and gets the message instead of the question again."""
    over, turns, _ = await _call(live, _LATE, "leave_message")
    assert (over["endedReason"], over["outcome"]["code"]) == ("voicemail", "message_left")
    asked = [turn["text"] for turn in turns if "?" in turn["text"]]
    assert len(asked) <= 1
    assert "The table of tonight" in turns[-1]["text"]
