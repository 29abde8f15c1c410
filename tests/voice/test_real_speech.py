"""Calls over a SIP line with real voices: espeak-ng talks on both sides, pocketsphinx hears."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import fresh_database
from tests.providers.telephony.sip.peer import Peer, peer
from tests.tools import needs
from tests.voice.callee import answered
from tests.voice.desk import AGENTS, Desk
from tests.voice.live import Live, installation
from tillhouse.voice.speech.espeak import Espeak

pytestmark = [pytest.mark.proof, needs("espeak-ng"), needs("pocketsphinx")]


@pytest.fixture
async def live(server_url: str, master_key: str, tmp_path: Path) -> AsyncIterator[Live]:
    """An installation on this machine, whose telephones are on it as well."""
    async with (
        fresh_database(server_url, "tillhouse_real_speech") as url,
        installation(url, master_key, tmp_path, VOICE_ALLOW_TARGETS="127.0.0.1") as made,
    ):
        yield made


async def _voice(words: str, language: str = "en-US") -> bytes:
    espeak = Espeak.found()
    assert espeak is not None
    return await espeak.speak(words, language)


async def _placed(live: Live, theirs: Peer) -> tuple[Desk, str]:
    desk = await live.desk("sip", {"host": "127.0.0.1", "port": str(theirs.port)})
    change = {"silence_timeout_seconds": 5}
    await desk.api.patch(f"{AGENTS}/{desk.agent_id}", change, status=200)
    return desk, (await desk.place(purpose="The table of tonight"))["id"]


async def _over(live: Live, desk: Desk, theirs: Peer, call_id: str) -> dict[str, Any]:
    theirs.reply(await theirs.got("BYE"), 200)
    return await live.ended(desk, call_id)


async def _turns(desk: Desk, call_id: str) -> list[Any]:
    said = await desk.api.get(f"/v1/voice/calls/{call_id}/transcript", status=200)
    return said.data["turns"]


async def test_a_yes_at_the_lifting_of_the_receiver_agrees_to_nothing(live: Live) -> None:
    """Nobody answers the question itself: the call ends without an agreement."""
    async with peer() as theirs:
        desk, call_id = await _placed(live, theirs)
        async with answered(theirs) as callee:
            callee.says(await _voice("yes"))
            over = await _over(live, desk, theirs, call_id)
    assert over["outcome"]["code"] != "agreed"
    turns = await _turns(desk, call_id)
    assert sum("?" in turn["text"] for turn in turns if turn["role"] == "agent") == 2


async def test_a_yes_after_the_question_is_heard_and_stands_at_its_time(live: Live) -> None:
    """The customer says hello first; the agent goes on, asks, and takes the yes."""
    async with peer() as theirs:
        desk, call_id = await _placed(live, theirs)
        async with answered(theirs) as callee:
            callee.says(await _voice("hello"))
            said_s = await callee.waits_until_asked(await _voice("Do you agree?", "en"))
            callee.says(await _voice("yes please"))
            over = await _over(live, desk, theirs, call_id)
    assert (over["status"], over["outcome"]["code"]) == ("completed", "agreed")
    turns = await _turns(desk, call_id)
    [answer] = [one for one in turns if one["role"] == "customer"]
    assert answer["text"] in ("yes", "yes please")
    # A machine that stands still in between moves all that follows: the next turn is the bound.
    thanks = turns[turns.index(answer) + 1]
    assert thanks["role"] == "agent"
    assert 1000 * (said_s - 0.5) < answer["startMs"] < answer["endMs"] <= thanks["startMs"]
