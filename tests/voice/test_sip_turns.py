"""Turns over a SIP line: what was confirmed, what the transcript says, and the sound on the wire.

The agent's sound is kept packet by packet: each sentence of a transcript is spoken again by the
same voice, and found in it.
"""

import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.conftest import fresh_database
from tests.providers.telephony.sip.peer import peer
from tests.providers.telephony.sip.programs import baresip
from tests.providers.telephony.sip.sounds import correlation, samples, write_tone
from tests.tools import needs
from tests.voice.callee import Callee, answered
from tests.voice.desk import AGENTS, CALLS, Desk, phone
from tests.voice.live import Live, installation
from tests.voice.speech.wire import noise
from tillhouse.voice.speech.espeak import Espeak
from tillhouse.voice.speech.turn_rules import sentences

pytestmark = [pytest.mark.proof, needs("espeak-ng"), needs("pocketsphinx")]
_DISCLOSURE = "This is an automated call, and it is recorded."
_ASKED = "Is that right?"
_GREETING_S = 3.5


class Talked(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is over, and everything that tells of it."""

    call: dict[str, Any]
    turns: list[dict[str, Any]]
    order: dict[str, Any]
    callee: Callee

    def said(self, role: str) -> list[str]:
        """The texts of one side."""
        return [turn["text"] for turn in self.turns if turn["role"] == role]

    def asked(self) -> int:
        """How often the transcript says that the question was asked to its end."""
        return sum(_ASKED in text for text in self.said("agent"))


@pytest.fixture
async def live(server_url: str, master_key: str, tmp_path: Path) -> AsyncIterator[Live]:
    """An installation on this machine, whose telephones are on it as well."""
    async with (
        fresh_database(server_url, "tillhouse_sip_turns") as url,
        installation(url, master_key, tmp_path, VOICE_ALLOW_TARGETS="127.0.0.1") as made,
    ):
        yield made


async def _voice(words: str, language: str = "en-US") -> bytes:
    espeak = Espeak.found()
    assert espeak is not None
    return await espeak.speak(words, language)


async def _placed(live: Live, port: int, number: str) -> tuple[Desk, str, str]:
    """A desk, an order of 50,000 that waits for its confirmation, and the call about it."""
    desk = await live.desk("sip", {"host": "127.0.0.1", "port": str(port)})
    change = {"silence_timeout_seconds": 4, "ring_timeout_seconds": 5, "max_attempts": 1}
    await desk.api.patch(f"{AGENTS}/{desk.agent_id}", change, status=200)
    orders = await desk.business.client("orders:read", "orders:write", environment="live")
    body = {
        "customer_id": (await desk.business.customer("live", phone_number=number))["id"],
        "items": [{"product_name": "Rice", "custom_price": 50_000, "quantity": 1}],
        "scheduled_for": "2120-01-31T09:00:00Z",
    }
    order = (await orders.post("/v1/orders", body, status=201)).data
    call = await desk.place(customer_phone=number, order_id=order["id"])
    return desk, order["id"], call["id"]


async def _told(live: Live, desk: Desk, order_id: str, call_id: str) -> tuple[Any, Any, Any]:
    """The call once it is over, its turns, and the order."""
    call = await live.ended(desk, call_id)
    path = f"{CALLS}/{call_id}/transcript"
    turns = (await desk.api.get(path, status=200)).data["turns"]
    orders = await desk.business.client("orders:read", environment="live")
    return call, turns, (await orders.get(f"/v1/orders/{order_id}", status=200)).data


async def _talk(live: Live, customer: Callable[[Callee], Awaitable[None]]) -> Talked:
    """A whole call with this customer, whose transcript is held against the sound."""
    async with peer() as theirs:
        desk, order_id, call_id = await _placed(live, theirs.port, phone())
        async with answered(theirs) as callee:
            await customer(callee)
            if not callee.has_hung_up:
                theirs.reply(await theirs.got("BYE"), 200)
        call, turns, order = await _told(live, desk, order_id, call_id)
    talked = Talked(call=call, turns=turns, order=order, callee=callee)
    await _judge(talked)
    return talked


async def _judge(talked: Talked) -> None:
    """Each sentence that is told was on the wire, so often, and nothing else was."""
    told = [one for text in talked.said("agent") for one in sentences(text)]
    whole = [one for one in told if one[-1] in ".?"]
    for text in {*whole}:
        assert talked.callee.heard_times(await _voice(text, "en")) == whole.count(text), text
    told_s = sum(t["endMs"] - t["startMs"] for t in talked.turns if t["role"] == "agent") / 1000
    # Between two sentences there are pauses.
    assert 0.6 * told_s - 0.5 < talked.callee.audible_s(0) < told_s + 0.5


def _is_confirmed(talked: Talked) -> bool:
    """Whether the order was confirmed, as the order, the call and the transcript say alike."""
    is_sale = talked.order["status"] == "pending"
    is_told = talked.call["outcome"]["code"] == "order_confirmed"
    is_done = any(text.startswith("confirm_order") for text in talked.said("tool"))
    assert is_sale == is_told == is_done
    return is_sale


async def test_a_yes_at_the_lifting_of_the_receiver(live: Live) -> None:
    """The order is read out all the same, twice, and not confirmed."""

    async def customer(callee: Callee) -> None:
        callee.says(await _voice("yes"))

    talked = await _talk(live, customer)
    assert not _is_confirmed(talked)
    assert (talked.call["outcome"]["code"], talked.asked()) == ("no_answer", 2)
    assert talked.said("agent")[0] == _DISCLOSURE


@needs("baresip")
async def test_a_yes_of_a_softphone_at_the_lifting_of_the_receiver(
    live: Live, tmp_path: Path
) -> None:
    """The sound that it decoded holds all that is told; nothing is confirmed."""
    folder, number = tmp_path / "baresip", phone()
    folder.mkdir()
    sound = write_tone(folder, await _voice("yes"))
    async with baresip(folder, sound, number) as softphone:
        port = int(softphone.uri.rpartition(":")[2])
        call, turns, order = await _told(live, *await _placed(live, port, number))
        await softphone.command("quit")
    assert (order["status"], call["outcome"]["code"]) == ("scheduled", "no_answer")
    agent = [turn for turn in turns if turn["role"] == "agent"]
    assert sum(_ASKED in turn["text"] for turn in agent) == 2
    heard = samples(softphone.heard())
    for turn in agent:
        asked = _ASKED if _ASKED in turn["text"] else sentences(turn["text"])[0]
        spoken = await _voice(asked, "en")
        said = struct.unpack(f"<{len(spoken) // 2}h", spoken)
        begins, ends = max(0, 8 * turn["startMs"] - 8000), 8 * turn["endMs"] + 8000
        assert correlation(said, heard[begins:ends]) > 0.9, turn


async def test_a_key_before_the_question(live: Live) -> None:
    """It stands in the transcript at its time, and agrees to nothing."""

    async def customer(callee: Callee) -> None:
        await callee.until(0.8)
        callee.presses(1)

    talked = await _talk(live, customer)
    assert not _is_confirmed(talked)
    assert (talked.said("dtmf"), talked.asked()) == (["1"], 2)
    disclosure, key = talked.turns[0], next(t for t in talked.turns if t["role"] == "dtmf")
    assert disclosure["startMs"] < key["startMs"] < disclosure["endMs"]


async def test_hello_once_and_again(live: Live) -> None:
    """Every sentence is heard, the agent goes on, and takes the yes."""

    async def customer(callee: Callee) -> None:
        hello = await _voice("hello")
        callee.says(hello)
        callee.says(bytes(16_000))
        callee.says(hello)
        await callee.waits_until_asked(await _voice(_ASKED, "en"))
        callee.says(await _voice("yes"))

    talked = await _talk(live, customer)
    assert _is_confirmed(talked)
    assert talked.said("agent")[0] == _DISCLOSURE


async def test_a_long_greeting_and_silence(live: Live) -> None:
    """A person who greets for long is asked, and nothing follows from the silence."""

    async def customer(callee: Callee) -> None:
        callee.says(await _voice("good afternoon this is the house of bola"))

    talked = await _talk(live, customer)
    assert not _is_confirmed(talked)
    assert (talked.call["endedReason"], talked.asked()) == ("silence", 2)


async def test_a_customer_who_says_nothing(live: Live) -> None:
    """They are asked twice."""

    async def customer(callee: Callee) -> None:
        await callee.until(1)

    talked = await _talk(live, customer)
    assert not _is_confirmed(talked)
    assert (talked.call["endedReason"], talked.asked()) == ("silence", 2)
    assert not talked.said("customer")


@pytest.mark.parametrize("hum_hz", [None, 50.0, 140.0], ids=["noise", "hum", "deep"])
async def test_noise_of_the_line(live: Live, hum_hz: float | None) -> None:
    """At -30 dBFS, or a hum below 150 Hz: it cuts nothing, and a yes stands out of it."""

    async def customer(callee: Callee) -> None:
        callee.background = noise(9, -30, hum_hz)
        await callee.waits_until_asked(await _voice(_ASKED, "en"))
        callee.says(await _voice("yes please"))

    talked = await _talk(live, customer)
    assert _is_confirmed(talked), talked.turns
    assert all(text[-1] in ".?" for text in talked.said("agent"))
    assert talked.asked() == 1


async def test_an_interruption_within_a_question(live: Live) -> None:
    """It stops the agent; the question is asked again, and the no counts.

    How soon it stops or goes on is told by the line's own time, in `speech/test_turns.py`.
    """

    async def customer(callee: Callee) -> None:
        await callee.hears_for(len(await _voice(_DISCLOSURE, "en")) / 16_000 + _GREETING_S)
        callee.says(await _voice("one moment please"))
        await callee.waits_until_asked(await _voice(_ASKED, "en"))
        callee.says(await _voice("no"))

    talked = await _talk(live, customer)
    assert not _is_confirmed(talked)
    assert talked.call["outcome"]["code"] == "order_declined"
    [cut] = [text for text in talked.said("agent") if text[-1] not in ".?"]
    again = next(text for text in talked.said("agent") if _ASKED in text)
    assert again.startswith(cut)
    assert again.endswith(_ASKED)


async def test_a_call_that_is_hung_up_after_a_moment(live: Live) -> None:
    """The transcript has no word that wasn't on the wire."""

    async def customer(callee: Callee) -> None:
        await callee.hears_for(0.7)
        callee.hangs_up()

    talked = await _talk(live, customer)
    assert not _is_confirmed(talked)
    assert (talked.call["endedReason"], talked.call["outcome"]["code"]) == (
        "customer_hangup", "hung_up",
    )  # fmt: skip
    [said] = talked.said("agent")
    assert _DISCLOSURE.startswith(said)
    # As large a share of its sound as of its letters, give or take a word.
    share = len(said) / len(_DISCLOSURE)
    disclosure = await _voice(_DISCLOSURE, "en")
    assert share <= 0.2 or talked.callee.heard_times(disclosure, share - 0.15) == 1
    assert talked.callee.heard_times(disclosure, share + 0.25) == 0


@pytest.mark.parametrize("early", ["yes", "1"])
async def test_an_answer_during_the_disclosure(live: Live, early: str) -> None:
    """It can't be cut, and what is said there confirms nothing; the answer to the question does."""

    async def customer(callee: Callee) -> None:
        await callee.until(1.2)
        if early == "1":
            callee.presses(1)
        else:
            callee.says(await _voice(early))
        await callee.waits_until_asked(await _voice(_ASKED, "en"))
        callee.presses(2)

    talked = await _talk(live, customer)
    assert not _is_confirmed(talked)
    assert talked.call["outcome"]["code"] == "order_declined"
    assert talked.said("agent")[0] == _DISCLOSURE


async def test_an_answer_that_crosses_the_cancel(live: Live) -> None:
    """Nobody is left on an open line, and nothing was said."""
    async with peer() as theirs:
        desk, order_id, call_id = await _placed(live, theirs.port, phone())
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 180)
        await theirs.got("CANCEL")
        theirs.accept(invite)
        await theirs.got("ACK")
        theirs.reply(await theirs.got("BYE"), 200)
        call, turns, order = await _told(live, desk, order_id, call_id)
        callee = Callee(theirs, invite)
    assert (call["status"], call["endedReason"]) == ("missed", "no_answer")
    assert (turns, order["status"]) == ([], "scheduled")
    assert callee.audible_s(0) == 0
