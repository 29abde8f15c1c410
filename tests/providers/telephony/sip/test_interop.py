"""Other people's telephones: sipp and baresip, where they are installed."""

import asyncio
from pathlib import Path

import pytest

from tests.providers.telephony.sip.calling import Call, dialled, telephone
from tests.providers.telephony.sip.programs import (
    baresip,
    reply,
    scenario,
    sipp,
)
from tests.providers.telephony.sip.sounds import (
    PCM,
    SWEEP,
    correlation,
    recorded,
    samples,
    write_tone,
)
from tests.tools import needs
from tests.waiting import ended
from tillhouse.providers.telephony.provider import Answered, Digit, Ringing


async def _talk(call: Call) -> None:
    while not isinstance(await call.next(), Answered):
        pass
    await ended(call.media.play(PCM).done())
    # The last words come back a moment later.
    frames = 0
    async for _ in call.media.heard():
        frames += 1
        if frames == 20:
            break
    await call.line.hang_up()


@pytest.mark.proof
@needs("sipp")
async def test_sipp_answers_and_sends_back_what_it_hears(tmp_path: Path) -> None:
    """The recording's right channel is its left, a moment later."""
    async with (
        recorded(tmp_path) as recording,
        telephone() as ours,
        sipp(tmp_path, "-sn", "uas", "-rtp_echo") as (uri, process),
    ):
        call = await dialled(ours, uri, recorder=recording)
        await _talk(call)
        end = await call.end()
        received, flow = call.media.received, call.media.flow
        # Zero means that each message was the one that its scenario expects.
        assert await ended(process.wait()) == 0
    left, right = samples(recording.path, 0), samples(recording.path, 1)
    assert (end.result, end.ended_by) == ("hung_up", "agent")
    assert received.lost == 0
    assert flow.packets >= 100
    assert correlation(left, right) >= 0.99


@pytest.mark.proof
@needs("sipp")
@pytest.mark.parametrize(
    ("line", "result"), [("486 Busy Here", "busy"), ("480 Temporarily Unavailable", "no_answer")]
)
async def test_sipp_refuses(line: str, result: str, tmp_path: Path) -> None:
    """The end has its result, and sipp its ACK."""
    steps = scenario(tmp_path, reply(line), '<recv request="ACK"/>')
    async with telephone() as ours, sipp(tmp_path, "-sf", str(steps)) as (uri, process):
        end = await (await dialled(ours, uri)).end()
        assert await ended(process.wait()) == 0
    assert end.result == result


@pytest.mark.proof
@needs("sipp")
async def test_sipp_rings_and_nobody_answers(tmp_path: Path) -> None:
    """CANCEL, and both of its answers."""
    steps = scenario(
        tmp_path,
        reply("180 Ringing"),
        '<recv request="CANCEL"/>',
        reply("200 OK"),
        reply("487 Request Terminated").replace(
            "[last_CSeq:]", "CSeq: 1 INVITE"
        ),
        '<recv request="ACK"/>',
    )  # fmt: skip
    async with telephone() as ours, sipp(tmp_path, "-sf", str(steps)) as (uri, process):
        call = await dialled(ours, uri, ring_s=0.3)
        assert isinstance(await call.next(), Ringing)
        end = await call.end()
        assert await ended(process.wait()) == 0
    assert (end.result, end.sip_status) == ("no_answer", 487)


@pytest.mark.proof
@needs("sipp")
@pytest.mark.parametrize(("password", "result"), [("open", "busy"), ("wrong", "forbidden")])
async def test_sipp_judges_our_digest(password: str, result: str, tmp_path: Path) -> None:
    """Its own verification lets the right password through, and only that."""
    challenge = 'WWW-Authenticate: Digest realm="till", algorithm=MD5, nonce="a1b2", qop="auth"'
    steps = scenario(
        tmp_path,
        reply("401 Unauthorized", challenge),
        '<recv request="ACK"/>',
        '<recv request="INVITE"><action><verifyauth assign_to="ok" username="me" password="open"/>'
        "</action></recv>",
        '<nop hide="true" test="ok" next="known"/>',
        reply("403 Forbidden"),
        '<recv request="ACK" next="end"/>',
        '<label id="known"/>',
        reply("486 Busy Here"),
        '<recv request="ACK"/>',
        '<label id="end"/>',
    )
    settings = {"username": "me", "password": password}
    async with telephone() as ours, sipp(tmp_path, "-sf", str(steps)) as (uri, process):
        settings["host"], settings["port"] = "127.0.0.1", uri.rpartition(":")[2]
        end = await (await dialled(ours, "+2348030000001", settings=settings)).end()
        assert await ended(process.wait()) == 0
    assert end.result == result


@pytest.mark.proof
@needs("baresip")
async def test_baresip_hears_what_was_said_and_is_heard(tmp_path: Path) -> None:
    """The sound that it decoded is the one that was sent, and its keys arrive."""
    async with (
        recorded(tmp_path) as recording,
        telephone() as ours,
        baresip(tmp_path, write_tone(tmp_path)) as phone,
    ):
        call = await dialled(ours, phone.uri, recorder=recording)
        while not isinstance(await call.next(), Answered):
            pass
        sound = call.media.play(PCM)
        pressed = asyncio.ensure_future(_keys(call, 2))
        await phone.command("sndcode", "1")
        await phone.command("sndcode", "#")
        keys = await ended(pressed)
        await ended(sound.done())
        await call.line.hang_up()
        end = await call.end()
        await phone.command("quit")
    assert keys == ["1", "#"]
    assert end.result == "hung_up"
    assert correlation(SWEEP, samples(phone.heard())) >= 0.99
    assert max(map(abs, samples(recording.path, 1))) > 1000


async def _keys(call: Call, wanted: int) -> list[str]:
    found: list[str] = []
    async for heard in call.media.heard():
        if isinstance(heard, Digit):
            found.append(heard.key)
            if len(found) == wanted:
                return found
    return found
