"""Calls by Twilio from the request to their end, with all that goes wrong between."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from aiohttp import WSServerHandshakeError

from tests.providers.payments.simulators.simulator import Fault
from tests.providers.telephony.twilio.desk import QUICK, Desk, Tape, attempt, opened
from tests.providers.telephony.twilio.handset import SILENCE, Handset
from tests.providers.telephony.twilio.simulator import (
    ACCOUNT_SID,
    AUTH_TOKEN,
)
from tests.waiting import ended
from tillhouse.providers.telephony.provider import (
    FRAME_BYTES,
    Answered,
    Audio,
    Dial,
    Digit,
    Happening,
    LineEnded,
    NumberAccount,
    Ringing,
)
from tillhouse.providers.telephony.sip import g711
from tillhouse.providers.telephony.twilio import hooks
from tillhouse.providers.telephony.twilio.line import TwilioLine
from tillhouse.providers.telephony.twilio.plan import plan
from tillhouse.providers.telephony.twilio.rest import Rest
from tillhouse.providers.telephony.twilio.stream import StreamAudio

_CREATE = "POST */Calls.json"


@pytest_asyncio.fixture
async def desk() -> AsyncIterator[Desk]:
    """A desk."""
    async with opened() as one:
        yield one


async def _told(line: Any) -> list[Happening]:
    async def read() -> list[Happening]:
        return [happening async for happening in line.events()]

    return await ended(read())


async def test_a_call_rings_is_answered_and_talks_both_ways(desk: Desk) -> None:
    """No callback comes at all: the questions and the stream are enough."""
    tape = Tape()
    line = await desk.dial(recorder=tape)
    sid = line.sid
    assert sid is not None
    desk.sim.move(sid, "ringing")
    await desk.until(lambda: line._rings)
    handset = await Handset(desk.sim, sid).answer()
    await desk.until(lambda: line.party is not None)
    audio = line.party
    assert isinstance(audio, Audio)
    heard: list[bytes | Digit] = []
    silent = asyncio.Event()

    async def listen() -> None:
        async for one in audio.heard():
            if one == bytes(FRAME_BYTES):
                silent.set()
            else:
                heard.append(one)

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0)
    pcm = b"".join(((500 * step) % 30_000).to_bytes(2, "little") for step in range(1600))
    await handset.say(b"\x10" * 480)
    await handset.press("5")
    await handset.press("ABC")
    await ended(audio.play(pcm).done())
    await desk.until(lambda: len(heard) == 4)
    # Somebody of whom nothing comes is silent, and time passes for who listens.
    await ended(silent.wait())
    await desk.until(lambda: pcm in bytes(tape.agent))
    await handset.hang_up()
    told = await _told(line)
    assert told == [
        Ringing(sid), Answered("unknown", sid), LineEnded(result="hung_up", ended_by="customer"),
    ]  # fmt: skip
    await ended(listening)
    frame = g711.decode("PCMU", b"\x10" * 160)
    assert heard == [frame, frame, frame, Digit("5")]
    assert bytes(handset.played) == g711.encode("PCMU", pcm)
    assert frame * 3 in bytes(tape.customer)
    await handset.close()


async def test_sound_is_over_when_twilio_says_so(desk: Desk) -> None:
    """By its mark, and not when its patience with marks is over."""
    line = await desk.dial()
    assert line.sid is not None
    handset = await Handset(desk.sim, line.sid).answer()
    await desk.until(lambda: line.party is not None)
    assert isinstance(line.party, StreamAudio)
    sound = line.party.play(b"\x02\x20" * 320)
    patience = sound.patience
    await ended(sound.done())
    assert sound.patience > patience // 2
    await handset.close()


async def test_a_customer_who_talks_stops_the_sound(desk: Desk) -> None:
    """Twilio is told to clear; sound that waits behind it is played whole."""
    line = await desk.dial()
    assert line.sid is not None
    handset = await Handset(desk.sim, line.sid).answer()
    handset.is_holding_marks = True
    await desk.until(lambda: line.party is not None)
    assert isinstance(line.party, Audio)
    long = line.party.play(b"\x01\x10" * 80_000)
    after = line.party.play(b"\x02\x20" * 160)
    await desk.until(lambda: len(handset.played) >= 800)
    long.stop()
    long.stop()
    await ended(long.done())
    await desk.until(lambda: handset.marks)
    assert handset.clears == 1
    assert len(handset.played) < 80_000
    assert bytes(handset.played[-160:]) == g711.encode("PCMU", b"\x02\x20" * 160)
    assert not after.over.is_set()
    await handset.give_back()
    await ended(after.done())
    await line.hang_up()
    await line.hang_up()
    assert (await _told(line))[-1] == LineEnded(result="hung_up", ended_by="agent")
    assert desk.sim.calls[line.sid]["status"] == "completed"
    await handset.close()


@pytest.mark.parametrize(
    ("status", "result"),
    [("busy", "busy"), ("no-answer", "no_answer"), ("failed", "invalid_destination"),
     ("canceled", "cancelled")],
)  # fmt: skip
async def test_a_call_that_nobody_answers_ends(desk: Desk, status: str, result: str) -> None:
    """By its status alone."""
    line = await desk.dial()
    assert line.sid is not None
    desk.sim.move(line.sid, status)
    told = await _told(line)
    assert [one.result for one in told if isinstance(one, LineEnded)] == [result]
    assert len(told) == 1


@pytest.mark.parametrize("faults", [("reordered",), ("twice", "twice"), ("twice", "reordered")])
async def test_callbacks_never_move_a_call_back(faults: tuple[Any, ...]) -> None:
    """Late, early, or repeated: each thing is told once, and the end is the first one."""
    async with opened(msgspec.structs.replace(QUICK, ask_every_s=3600.0)) as desk:
        dial = attempt(callback_url="https://till.example.com/hooks/twilio/1/2")
        line = await desk.telephone.dial(dial)
        assert isinstance(line, TwilioLine)
        await desk.until(lambda: line.sid is not None)
        assert line.sid is not None
        desk.sim.move(line.sid, "ringing")
        desk.sim.move(line.sid, "failed", SipResponseCode="603")
        desk.sim.fail_hooks(*faults)
        for callback in desk.sim.spoilt():
            assert hooks.verify(callback.url, callback.headers, callback.body, AUTH_TOKEN)
            assert callback.url == dial.callback_url
            desk.telephone.tell(dial.attempt_id, callback.body)
        told = await _told(line)
        assert told.count(Ringing(line.sid)) <= 1
        assert isinstance(told[-1], LineEnded)
        assert (told[-1].result, told[-1].sip_status) == ("declined", 603)


@pytest.mark.parametrize("fault", ["500 after", "reset after", "truncated", "no json"])
async def test_a_call_whose_answer_is_lost_is_found_and_not_made_twice(
    desk: Desk, fault: Fault
) -> None:
    """It goes on as any other."""
    desk.sim.fail_next(fault, _CREATE)
    line = await desk.dial()
    assert line.sid is not None
    desk.sim.move(line.sid, "busy")
    told = await _told(line)
    assert [one.result for one in told if isinstance(one, LineEnded)] == ["busy"]
    assert len(desk.sim.calls) == 1


async def test_a_call_that_was_never_made_is_not_tried_again(desk: Desk) -> None:
    """It may still be made, so another attempt could ring a second time."""
    desk.sim.fail_next("500 first", _CREATE)
    line = await desk.telephone.dial(attempt())
    told = await _told(line)
    assert isinstance(told[0], LineEnded)
    assert (told[0].result, told[0].may_retry, desk.sim.calls) == ("network", False, {})
    assert len([one for one in desk.sim.asked if one.method == "POST"]) == 1


async def test_questions_that_fail_change_nothing(desk: Desk) -> None:
    """The next one is answered."""
    line = await desk.dial()
    assert line.sid is not None
    for fault in ("500 first", "reset first", "busy", "no json"):
        desk.sim.fail_next(fault, "GET */Calls/*.json")
    desk.sim.move(line.sid, "busy")
    assert len(await _told(line)) == 1


async def test_a_call_is_taken_back_before_the_answer(desk: Desk) -> None:
    """Twilio is asked again until it has done so."""
    line = await desk.dial()
    assert line.sid is not None
    desk.sim.fail_next("500 first", "POST */Calls/*.json", times=2)
    await line.hang_up()
    assert await _told(line) == [LineEnded(result="cancelled", ended_by="agent")]
    assert desk.sim.calls[line.sid]["status"] == "canceled"


async def test_an_answer_that_comes_first_wins_over_taking_back(desk: Desk) -> None:
    """The call is hung up then: one end, after the answer."""
    line = await desk.dial()
    assert line.sid is not None
    handset = await Handset(desk.sim, line.sid).answer()
    await line.hang_up()
    told = await _told(line)
    assert isinstance(told[-1], LineEnded)
    assert told[-1].result in ("hung_up", "cancelled")
    is_answered = any(isinstance(one, Answered) for one in told)
    assert is_answered is (told[-1].result == "hung_up")
    assert desk.sim.calls[line.sid]["status"] == "completed"
    await handset.close()


async def test_ringing_and_talking_have_their_limits(desk: Desk) -> None:
    """Each ends the call at Twilio."""
    line = await desk.dial(ring_within=timedelta(seconds=0.05))
    told = await _told(line)
    assert isinstance(told[-1], LineEnded)
    assert (told[-1].result, told[-1].ended_by) == ("no_answer", "system")
    line = await desk.dial(talk_within=timedelta(seconds=0.05))
    assert line.sid is not None
    handset = await Handset(desk.sim, line.sid).answer()
    told = await _told(line)
    assert told[-1] == LineEnded(result="max_duration", ended_by="system")
    assert desk.sim.calls[line.sid]["status"] == "completed"
    await handset.close()


async def test_an_answer_without_sound_is_lost_media(desk: Desk) -> None:
    """Twilio couldn't connect the stream; the call doesn't go on in silence."""
    line = await desk.dial()
    assert line.sid is not None
    desk.sim.move(line.sid, "in-progress")
    told = await _told(line)
    assert [one.result for one in told if isinstance(one, LineEnded)] == ["media_lost"]
    assert desk.sim.calls[line.sid]["status"] == "completed"


async def test_a_stream_that_falls_silent_is_lost_media() -> None:
    """An honest stream brings sound all the time."""
    async with opened(silence_s=0.1) as desk:
        line = await desk.dial()
        assert line.sid is not None
        handset = await Handset(desk.sim, line.sid).answer()
        await handset.say(SILENCE)
        told = await _told(line)
        assert isinstance(told[-1], LineEnded)
        assert (told[-1].result, told[-1].detail) == ("media_lost", "no sound came")
        await handset.close()


async def test_a_machine_is_told_by_the_answer(desk: Desk) -> None:
    """The stream starts when Twilio knows; who answered is asked for before it is told."""
    line = await desk.dial(settings={"machine_detection": "on"})
    assert line.sid is not None
    desk.sim.calls[line.sid]["answered_by"] = "machine_start"
    handset = await Handset(desk.sim, line.sid).answer()
    await desk.until(lambda: line.party is not None)
    await handset.hang_up()
    assert Answered("machine", line.sid) in await _told(line)
    await handset.close()


async def test_a_stream_is_taken_once_and_of_its_own_call_alone(desk: Desk) -> None:
    """A second stream, an unknown token, another account: none of them hears anything."""
    line = await desk.dial()
    assert line.sid is not None
    first = Handset(desk.sim, line.sid)
    stray = Handset(desk.sim, line.sid)
    await first.connect()
    with pytest.raises(WSServerHandshakeError) as refusal:
        await stray.connect()
    assert refusal.value.status == 404
    assert stray._session is not None
    await stray._session.close()
    await first.start(account_sid="AC" + "0" * 32)
    await ended(first.ended())
    assert first.closed_by == 1008
    assert line.party is None
    await first.close()


@pytest.mark.parametrize(
    ("status", "result"),
    [("ringing", "cancelled"), ("in-progress", "media_lost"), ("busy", "busy"),
     ("completed", "media_lost")],
)  # fmt: skip
async def test_an_attempt_whose_process_died_is_found_and_ended(
    desk: Desk, status: str, result: str
) -> None:
    """Nobody is left to talk, so a call that goes on is ended."""
    dial = attempt()
    made = Handset(desk.sim, await _made(desk, dial))
    desk.sim.move(made._sid, status)
    outcome = await desk.telephone.find_outcome(dial)
    assert outcome is not None
    assert outcome.result == result
    assert desk.sim.calls[made._sid]["status"] in ("canceled", "completed", "busy")


async def _made(desk: Desk, dial: Dial) -> str:
    """A call of a process that died after it had asked for it."""
    planned = plan(dial, "wss://gone.example.com/1")
    assert planned is not None
    return (await Rest(desk.sim.base_url).create(desk.sim.account, planned.call)).sid


async def test_an_attempt_that_could_be_several_calls_is_nobodys(desk: Desk) -> None:
    """None, or two of them: nobody knows. Twilio out of reach: neither."""
    dial = attempt()
    assert await desk.telephone.find_outcome(dial) is None
    sid = await _made(desk, dial)
    desk.sim.calls[sid]["date_created"] = "Sun, 01 Jan 2023 10:00:00 +0000"
    assert await desk.telephone.find_outcome(dial) is None
    await _made(desk, dial)
    assert await desk.telephone.find_outcome(dial) is not None
    await _made(desk, dial)
    assert await desk.telephone.find_outcome(dial) is None
    desk.sim.fail_next("500 first", "GET *")
    assert await desk.telephone.find_outcome(dial) is None


async def test_a_number_without_an_account_calls_nobody(desk: Desk) -> None:
    """The settings are looked at before anything is asked."""
    line = await desk.telephone.dial(attempt(account=NumberAccount({"account_sid": ACCOUNT_SID})))
    told = await _told(line)
    assert isinstance(told[0], LineEnded)
    assert (told[0].result, desk.sim.asked) == ("trunk_auth", [])
