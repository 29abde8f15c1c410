"""Sound: laws, packets, their order, and keys.

TILLHOUSE_TEST_FUZZ=100000 reads that many datagrams, other ones each time.
"""

import os
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tillhouse.providers.telephony.sip import g711, keys, rtp
from tillhouse.providers.telephony.sip.jitter import PACKETS_MAX, START_PACKETS, JitterBuffer

_EXAMPLES = max(300, int(os.environ.get("TILLHOUSE_TEST_FUZZ", "0")))
_LAWS: tuple[g711.Law, ...] = ("PCMU", "PCMA")


def _samples(pcm: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(pcm) // 2}h", pcm)


@pytest.mark.parametrize("law", _LAWS)
def test_every_byte_survives_both_ways(law: g711.Law) -> None:
    """Decoding and encoding again changes no byte, but for the negative of nothing."""
    data = bytes(range(256))
    again = g711.encode(law, g711.decode(law, data))
    assert {byte for byte, same in zip(data, again, strict=True) if byte != same} <= {0x7F}


@pytest.mark.parametrize(
    ("law", "byte", "sample"),
    [("PCMU", 0x00, -32124), ("PCMU", 0x80, 32124), ("PCMU", 0xFF, 0), ("PCMU", 0xF0, 120),
     ("PCMA", 0xD5, 8), ("PCMA", 0x55, -8), ("PCMA", 0xAA, 32256), ("PCMA", 0x2A, -32256)],
)  # fmt: skip
def test_bytes_mean_what_g711_says(law: g711.Law, byte: int, sample: int) -> None:
    """The corners of ITU-T G.711's tables, scaled to 16 bits."""
    assert _samples(g711.decode(law, bytes([byte]))) == (sample,)


@pytest.mark.parametrize("law", _LAWS)
def test_a_sample_becomes_one_that_is_near(law: g711.Law) -> None:
    """The error of each of all samples is small beside it, as the laws are made for."""
    samples = range(-32768, 32768)
    back = _samples(g711.decode(law, g711.encode(law, struct.pack("<65536h", *samples))))
    for sample, found in zip(samples, back, strict=True):
        assert abs(sample - found) <= max(16, abs(sample) / 25 + 8)


@pytest.mark.parametrize("law", _LAWS)
def test_silence_is_encoded_as_silence(law: g711.Law) -> None:
    """Nothing is heard where nothing was said."""
    assert max(map(abs, _samples(g711.decode(law, g711.encode(law, bytes(320)))))) <= 8


def test_a_packet_reads_as_it_was_written() -> None:
    """Each part of a packet."""
    packet = rtp.Packet(101, 65_535, 4_294_967_295, 7, b"payload", is_marked=True)
    assert rtp.parse(rtp.write(packet)) == packet


def test_extensions_padding_and_sources_are_no_sound() -> None:
    """The payload is found between everything that RTP may have around it."""
    head = struct.pack("!BBHII", 0x80 | 0x20 | 0x10 | 2, 0, 1, 2, 3)
    data = head + bytes(8) + struct.pack("!HH", 0xBEDE, 1) + bytes(4) + b"sound" + b"\0\0\3"
    packet = rtp.parse(data)
    assert packet is not None
    assert packet.payload == b"sound"


@settings(max_examples=_EXAMPLES, deadline=None)
@given(st.binary(max_size=80))
def test_any_datagram_is_a_packet_or_nothing(data: bytes) -> None:
    """Nothing is raised, and a payload is never longer than its datagram."""
    packet = rtp.parse(data)
    keys.parse(data)
    assert packet is None or len(packet.payload) <= len(data) - 12


@pytest.mark.parametrize(
    "data",
    [b"", bytes(11), b"\x40" + bytes(20), b"\xa0" + bytes(10) + b"\xff", b"\x80\xc8" + bytes(20),
     b"\x90" + bytes(13), b"\x80" + bytes(2000)],
)  # fmt: skip
def test_what_is_no_rtp_is_nothing(data: bytes) -> None:
    """Another version, lengths beyond the datagram, reports, and datagrams that are too large."""
    assert rtp.parse(data) is None


def _taken(buffer: JitterBuffer, turns: int) -> list[bytes | None]:
    return [buffer.take() for _ in range(turns)]


def test_packets_are_put_in_order() -> None:
    """One that overtook another is played behind it, across the end of the numbers, too."""
    buffer = JitterBuffer()
    for sequence in (65_535, 1, 0, 2):
        buffer.put(sequence, bytes([sequence & 0xFF]))
    assert _taken(buffer, 4) == [b"\xff", b"\0", b"\1", b"\2"]
    assert buffer.counts.lost == 0


def test_a_packet_that_never_comes_is_lost_and_one_that_comes_twice_is_late() -> None:
    """Its turn is silence, and the next is in its own place."""
    buffer = JitterBuffer()
    for sequence in (10, 11, 13, 13, 14):
        buffer.put(sequence, bytes([sequence]))
    assert _taken(buffer, 5) == [b"\x0a", b"\x0b", None, b"\x0d", b"\x0e"]
    buffer.put(12, b"\x0c")
    counts = buffer.counts
    assert (counts.played, counts.lost, counts.late) == (4, 1, 2)


def test_a_sender_that_is_too_fast_is_held_to_the_present() -> None:
    """The oldest packets go, so that the delay stays small, and memory too."""
    buffer = JitterBuffer()
    for sequence in range(1000):
        buffer.put(sequence, b"x")
    assert len([one for one in _taken(buffer, 1000) if one]) <= PACKETS_MAX
    counts = buffer.counts
    assert counts.played + counts.dropped == 1000


def test_a_jump_is_a_new_stream() -> None:
    """A sender that starts again is heard at once, and nothing is called lost."""
    buffer = JitterBuffer()
    for sequence in (*range(5), *range(30_000, 30_000 + START_PACKETS)):
        buffer.put(sequence, b"x")
    assert _taken(buffer, START_PACKETS) == [b"x"] * START_PACKETS
    assert buffer.counts.lost == 0


def test_a_pause_is_no_loss() -> None:
    """When nothing comes, nothing is counted, and sound goes on when it comes again."""
    buffer = JitterBuffer()
    for sequence in range(START_PACKETS):
        buffer.put(sequence, b"x")
    assert _taken(buffer, 10) == [b"x"] * START_PACKETS + [None] * (10 - START_PACKETS)
    for sequence in range(START_PACKETS, 2 * START_PACKETS):
        buffer.put(sequence, b"y")
    assert _taken(buffer, START_PACKETS) == [b"y"] * START_PACKETS
    assert buffer.counts.lost == 0


def test_a_key_is_read_once_however_often_it_is_repeated() -> None:
    """Also when its first packets or its end are lost, or come late."""
    reader = keys.KeyReader()
    packets = [(160, one) for one in keys.payloads("5")]
    packets += [(8000, one) for one in keys.payloads("5")[3:6]]
    packets += [(160, keys.payloads("5")[0])]
    packets += [(16_000, one) for one in keys.payloads("#")]
    assert [key for at, one in packets if (key := reader.read(at, one))] == ["5", "5", "#"]


def test_a_key_that_is_held_for_long_is_one_key() -> None:
    """RFC 4733: after 8 seconds its packets have another timestamp."""
    reader = keys.KeyReader()
    held = struct.pack("!BBH", 1, 10, 0xFFFF)
    assert reader.read(0, held) == "1"
    assert reader.read(0xFFFF, held) is None
    assert reader.read(2 * 0xFFFF, held) is None
