"""RTP packets (RFC 3550): bytes in, a packet or nothing out, and the way back."""

import struct

import msgspec

# An honest packet of G.711 has 172 bytes, one of 60 ms 492.
PACKET_BYTES_MAX = 1500
_FIXED = struct.Struct("!BBHII")
_VERSION = 2
# With RTCP on the same port its types stand where RTP has marker and type.
_RTCP = range(192, 224)
_EXTENSION = struct.Struct("!HH")


class Packet(msgspec.Struct, frozen=True):
    """One packet."""

    payload_type: int
    sequence: int
    timestamp: int
    source: int
    payload: bytes
    is_marked: bool = False


def parse(data: bytes) -> Packet | None:
    """Read a datagram; None when it is no RTP."""
    if not _FIXED.size <= len(data) <= PACKET_BYTES_MAX or is_rtcp(data):
        return None
    first, second, sequence, timestamp, source = _FIXED.unpack_from(data)
    start = _FIXED.size + 4 * (first & 0x0F)
    end = len(data)
    if first & 0x10:
        if start + _EXTENSION.size > end:
            return None
        start += _EXTENSION.size + 4 * _EXTENSION.unpack_from(data, start)[1]
    if first & 0x20:
        end -= data[-1] or len(data)
    if first >> 6 != _VERSION or start > end:
        return None
    marked, kind = bool(second & 0x80), second & 0x7F
    return Packet(kind, sequence, timestamp, source, data[start:end], marked)


def is_rtcp(data: bytes) -> bool:
    """Whether a datagram is a report on the stream instead of a part of it."""
    return len(data) >= 2 and data[0] >> 6 == _VERSION and data[1] in _RTCP


def write(packet: Packet) -> bytes:
    """The bytes of a packet."""
    second = packet.payload_type | (0x80 if packet.is_marked else 0)
    head = _FIXED.pack(_VERSION << 6, second, packet.sequence, packet.timestamp, packet.source)
    return head + packet.payload
