"""The sound of a call: what is said arrives, what arrives is heard, and nobody else is."""

import asyncio
import itertools
import math
import struct
import wave
from pathlib import Path

from tests.providers.telephony.sip.calling import Call, answered, dialled, telephone
from tests.providers.telephony.sip.peer import Peer, Sound, peer
from tests.providers.telephony.sip.sounds import recorded
from tests.waiting import ended
from tillhouse.providers.telephony.provider import Answered, Digit
from tillhouse.providers.telephony.sip import g711, keys
from tillhouse.providers.telephony.sip.telephone import SipTelephone

_TONE = b"".join(
    struct.pack("<h", int(12_000 * math.sin(0.3 * index) * math.cos(0.011 * index)))
    for index in range(160 * 25)
)
_LOUD = g711.encode("PCMU", _TONE[:320])


async def _heard(call: Call, wanted: int) -> list[bytes | Digit]:
    found: list[bytes | Digit] = []

    async def collect() -> None:
        async for one in call.media.heard():
            found.append(one)
            if len(found) >= wanted:
                return

    await ended(collect())
    return found


def _said(theirs: Sound) -> bytes:
    return b"".join(payload for kind, _, _, payload in theirs.packets if kind & 0x7F == 0)


async def test_each_sample_that_is_said_arrives_in_order() -> None:
    """The packets hold the whole sound, number by number and 20 ms by 20 ms."""
    async with telephone() as ours, peer() as theirs:
        call, _ = await answered(ours, theirs)
        await ended(call.media.play(_TONE).done())
        await theirs.sound.count(call.media.flow.packets)
        packets = theirs.sound.packets
    assert g711.encode("PCMU", _TONE) in _said(theirs.sound)
    for before, after in itertools.pairwise(packets):
        assert (after[1] - before[1]) & 0xFFFF == 1
        assert (after[2] - before[2]) & 0xFFFF_FFFF == 160
    assert [kind >> 7 for kind, *_ in packets] == [1] + [0] * (len(packets) - 1)


async def test_the_other_law_is_spoken_where_it_is_preferred() -> None:
    """PCMA, by the number of the answer."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        body = theirs.description(formats="8 0 101")
        theirs.reply(await theirs.got("INVITE"), 200, body=body)
        assert isinstance(await call.next(), Answered)
        await ended(call.media.play(_TONE).done())
        await theirs.sound.count(call.media.flow.packets)
    said = b"".join(payload for kind, _, _, payload in theirs.sound.packets if kind & 0x7F == 8)
    assert g711.encode("PCMA", _TONE) in said


async def test_a_call_is_recorded_while_it_lasts(tmp_path: Path) -> None:
    """Left what was said, right what came back, sample by sample."""
    async with recorded(tmp_path) as recording, telephone() as ours, peer() as theirs:
        theirs.sound.echoes = True
        call, _ = await answered(ours, theirs, recorder=recording)
        await ended(call.media.play(_TONE).done())
        await _heard(call, 20)
        await call.line.hang_up()
        await call.end()
    with wave.open(str(recording.path)) as file:
        frames = file.readframes(file.getnframes())
    left = b"".join(frames[at : at + 2] for at in range(0, len(frames), 4))
    right = b"".join(frames[at + 2 : at + 4] for at in range(0, len(frames), 4))
    assert _TONE in left
    # A scheduler that lets the process wait may cost some frames in the middle, not the start.
    assert g711.decode("PCMU", g711.encode("PCMU", _TONE))[: 320 * 5] in right


async def test_sound_from_elsewhere_is_counted_and_not_heard() -> None:
    """Once the first packet came, its source alone is taken; no packet goes elsewhere."""
    async with telephone() as ours, peer() as theirs, peer() as stranger:
        call, invite = await answered(ours, theirs)
        target = invite.media()
        theirs.sound.send(target, 1, _LOUD)
        # A frame later the packet was read.
        await _heard(call, 2)
        for number in range(50):
            stranger.sound.send(target, number, _LOUD)
        theirs.ask(invite, "OPTIONS", 1)
        await theirs.got("200")
        await _heard(call, 3)
        assert call.media.received.played <= 1
        assert not stranger.sound.packets
    assert ours.counts.foreign_media == 50


async def test_sound_goes_to_where_it_comes_from() -> None:
    """Behind a router a telephone sends from another port than it tells."""
    async with telephone() as ours, peer() as theirs, peer() as router:
        _, invite = await answered(ours, theirs)
        router.sound.send(invite.media(), 1, _LOUD)
        await router.sound.count(3)


async def test_another_host_cannot_begin_the_sound() -> None:
    """Only the host of the description, or the one that signals, may be the source."""
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        other = Sound("127.0.0.2")
        other.send(invite.media(), 1, _LOUD)
        await _heard(call, 3)
        other.close()
        assert not other.packets
    assert ours.counts.foreign_media == 1


async def test_broken_sound_is_counted() -> None:
    """Datagrams that are too large or too small, of another type or version."""
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        target = invite.media()
        theirs.sound.send(target, 1, bytes(1600))
        theirs.sound.send(target, 1, _LOUD, kind=34)
        for data in (b"", b"\0" * 172, b"\x80\0"):
            theirs.sound.socket.sendto(data, target)
        await _heard(call, 3)
    assert ours.counts.broken_media == 5


async def test_sound_before_the_answer_is_not_heard() -> None:
    """Early media is the network's voice, not the customer's."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 183, body=theirs.description())
        await call.next()
        for number in range(20):
            theirs.sound.send(invite.media(), number, _LOUD)
        theirs.reply(invite, 180)
        theirs.accept(invite)
        await call.next()
        frames = await _heard(call, 8)
    assert {bytes(320)} == set(frames)


async def test_lost_and_overtaken_packets_keep_the_rest_in_place() -> None:
    """A frame that never comes is silence, one that was overtaken is put back."""
    frames = [struct.pack("<160h", *[1000 * number] * 160) for number in range(1, 9)]
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        listening = asyncio.ensure_future(_heard(call, 25))
        await asyncio.sleep(0)
        for number in (0, 2, 1, 3, 5, 6, 7):
            theirs.sound.send(invite.media(), number, g711.encode("PCMU", frames[number]))
        heard = await ended(listening)
        counts = call.media.received
    first = next(index for index, one in enumerate(heard) if any(one))
    numbers = [round(struct.unpack("<h", one[:2])[0] / 1000) for one in heard[first : first + 8]]
    assert numbers == [1, 2, 3, 4, 0, 6, 7, 8]
    assert (counts.played, counts.lost) == (7, 1)


async def _keys_of(theirs: Peer, call: Call, target: tuple[str, int], pressed: str) -> list[str]:
    number = 0
    for index, key in enumerate(pressed):
        for payload in keys.payloads(key):
            head = struct.pack("!BBHII", 0x80, 101, number, 10_000 * index, 77)
            theirs.sound.socket.sendto(head + payload, target)
            number += 1
    return [one.key for one in await _heard(call, len(pressed) + 3) if isinstance(one, Digit)]


async def test_keys_are_heard() -> None:
    """Each once, though its packets are repeated."""
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        assert await _keys_of(theirs, call, invite.media(), "1#092") == list("1#092")


async def test_keys_are_sent() -> None:
    """As packets of their own, with one timestamp and three ends."""
    async with telephone() as ours, peer() as theirs:
        call, _ = await answered(ours, theirs)
        call.media.press("5")
        call.media.press("*")
        while sum(kind & 0x7F == 101 for kind, *_ in theirs.sound.packets) < 16:
            await theirs.sound.count(len(theirs.sound.packets) + 1)
    reader = keys.KeyReader()
    events = [one for one in theirs.sound.packets if one[0] & 0x7F == 101]
    assert [key for _, _, at, one in events if (key := reader.read(at, one))] == ["5", "*"]
    assert [kind >> 7 for kind, *_ in events] == [1, *[0] * 7] * 2
    assert len({at for _, _, at, _ in events}) == 2


async def test_speech_stops_when_it_is_told_to() -> None:
    """The next packet is silence: the customer is talking."""
    async with telephone() as ours, peer() as theirs:
        call, _ = await answered(ours, theirs)
        sound = call.media.play(_TONE * 20)
        await theirs.sound.count(4)
        sound.stop()
        sent = call.media.flow.packets
        await ended(sound.done())
        await theirs.sound.count(sent + 2)
        silence = g711.encode("PCMU", bytes(320))
        assert all(payload == silence for *_, payload in theirs.sound.packets[sent:])


async def test_a_line_that_is_over_plays_nothing() -> None:
    """Sound that was queued is done, and so is listening."""
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        media = call.media
        sound = media.play(_TONE * 100)
        listening = asyncio.ensure_future(_to_the_end(call))
        theirs.ask(invite, "BYE", 1)
        await call.end()
        await ended(sound.done())
        await ended(media.play(_TONE).done())
        await ended(listening)


async def _to_the_end(call: Call) -> None:
    async for _ in call.media.heard():
        pass


async def test_a_pause_of_the_process_is_caught_up_or_left_out() -> None:
    """A short pause costs nothing; of a long one the frames are left out, and time goes on.

    Time is that of the whole call: where the machine paused before, its frames come later.
    """
    loop = asyncio.get_running_loop()
    async with telephone() as ours, peer() as theirs:
        began = loop.time()
        call, _ = await answered(ours, theirs)
        flow = call.media.flow
        at = flow.timestamp - 160 * flow.packets
        await theirs.sound.count(2)
        sent, paused = flow.packets, loop.time()
        while loop.time() < paused + 1.0:
            pass
        await theirs.sound.count(sent + 20)
        passed = (flow.timestamp - at) / 8000
        assert flow.left_out > 0
        assert passed <= loop.time() - began + 0.05
        assert flow.packets < (loop.time() - began) / 0.02


async def test_calls_share_a_process() -> None:
    """Each hears its own echo alone."""

    async def talk(ours: SipTelephone, theirs: Peer, number: int) -> set[int]:
        theirs.sound.echoes = True
        call, _ = await answered(ours, theirs)
        call.media.play(struct.pack("<160h", *[number * 1000] * 160) * 50)
        frames = [one for one in await _heard(call, 30) if isinstance(one, bytes) and any(one)]
        return {round(sample / 1000) for one in frames for sample in struct.unpack("<160h", one)}

    async with telephone() as ours:
        peers = [Peer() for _ in range(5)]
        heard = await asyncio.gather(
            *(talk(ours, one, number) for number, one in enumerate(peers, 1))
        )
        for one in peers:
            one.close()
    assert [found - {0} for found in heard] == [{number} for number in range(1, 6)]
