"""Calls by SIP from the API to the telephone and back: dialled, spoken, heard, told of."""

import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import fresh_database
from tests.providers.telephony.sip.peer import Peer, peer
from tests.providers.telephony.sip.programs import Baresip, baresip
from tests.providers.telephony.sip.sounds import found_again, write_tone
from tests.tools import needs
from tests.voice.callee import press
from tests.voice.desk import Desk, phone
from tests.voice.live import CALLER, Live, installation
from tests.waiting import within
from tests.webhooks.shop import until
from tillhouse.providers.telephony.sip import g711

pytestmark = [pytest.mark.proof, needs("espeak-ng")]
_TALK = ["voice.call.completed", "voice.call.started", "voice.recording.ready"]


@pytest.fixture
async def live(server_url: str, master_key: str, tmp_path: Path) -> AsyncIterator[Live]:
    """An installation on this machine, whose telephones are on it as well."""
    async with (
        fresh_database(server_url, "tillhouse_sip_calls") as url,
        installation(url, master_key, tmp_path, VOICE_ALLOW_TARGETS="127.0.0.1") as made,
    ):
        yield made


def _quietly(payload: bytes) -> bytes:
    """A twentieth of a sound."""
    pcm = g711.decode("PCMU", payload)
    samples = struct.unpack(f"<{len(pcm) // 2}h", pcm)
    return g711.encode("PCMU", struct.pack(f"<{len(samples)}h", *(one // 20 for one in samples)))


async def _asked(theirs: Peer) -> None:
    """Wait until the agent has asked: nothing was heard of it for two seconds."""
    silent = frozenset(g711.encode("PCMU", bytes(320)))
    packets = theirs.sound.packets
    async with within():
        while len(packets) < 250 or any(not silent.issuperset(one[3]) for one in packets[-100:]):
            await theirs.sound.count(len(packets) + 1)


async def test_a_call_goes_from_the_api_to_a_telephone_and_back(live: Live) -> None:
    """The agent speaks, a key answers, both are on the recording, and webhooks tell of all."""
    async with peer() as theirs:
        # As loud as the echo of a line: the agent's own voice is nobody's who greets.
        theirs.sound.echoes, theirs.sound.echo = True, _quietly
        desk = await live.desk("sip", {"host": "127.0.0.1", "port": str(theirs.port)})
        number = phone()
        call = await desk.place(customer_phone=number, purpose="The table of tonight")
        invite = await theirs.got("INVITE")
        assert invite.uri == f"sip:{number}@127.0.0.1:{theirs.port}"
        assert CALLER in invite["from"]
        theirs.reply(invite, 180)
        theirs.accept(invite)
        await theirs.got("ACK")
        await _asked(theirs)
        press(theirs, invite.media(), 1)
        bye = await theirs.got("BYE")
        theirs.reply(bye, 200)
    over = await live.ended(desk, call["id"])
    assert (over["status"], over["endedReason"], over["endedBy"]) == (
        "completed", "agent_hangup", "agent",
    )  # fmt: skip
    assert over["outcome"]["code"] == "agreed"
    assert [one["result"] for one in over["attempts"]] == ["hung_up"]
    assert over["ringingAt"] is not None
    said = await desk.api.get(f"/v1/voice/calls/{call['id']}/transcript", status=200)
    turns = said.data["turns"]
    assert ("dtmf", "1") in [(turn["role"], turn["text"]) for turn in turns]
    assert any("The table of tonight" in turn["text"] for turn in turns)
    agent, customer = await live.recording(desk, call["id"])
    assert found_again(agent, customer) > 0.8
    assert await live.told(3) == _TALK


async def test_a_refusal_is_told_once(live: Live) -> None:
    """Busy: one event, for the call."""
    async with peer() as theirs:
        desk = await live.desk("sip", {"host": "127.0.0.1", "port": str(theirs.port)})
        call = await desk.place(max_attempts=1)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 486, "Busy Here")
        over = await live.ended(desk, call["id"])
    assert (over["status"], over["endedReason"]) == ("missed", "busy")
    assert [one["sipStatus"] for one in over["attempts"]] == [486]
    assert await live.told(1) == ["voice.call.failed"]


async def _pressing(desk: Desk, call_id: str, softphone: Baresip) -> dict[str, Any]:
    """Press a key until it answers: those before the question count for nothing."""

    async def look() -> dict[str, Any] | None:
        call = await desk.call(call_id)
        if call["status"] == "completed":
            return call
        await softphone.command("sndcode", "1")
        return None

    return await until(look)


@needs("baresip")
async def test_baresip_is_called_and_answers_by_keys(live: Live, tmp_path: Path) -> None:
    """It decodes what the agent says, and what it plays is on the recording's right."""
    folder = tmp_path / "baresip"
    folder.mkdir()
    number = phone()
    async with baresip(folder, write_tone(folder), number) as softphone:
        port = softphone.uri.rpartition(":")[2]
        desk = await live.desk("sip", {"host": "127.0.0.1", "port": port})
        call = await desk.place(customer_phone=number)
        await live.until(desk, call["id"], "in_progress")
        over = await _pressing(desk, call["id"], softphone)
    assert (over["status"], over["outcome"]["code"]) == ("completed", "agreed")
    assert await live.told(3) == _TALK
