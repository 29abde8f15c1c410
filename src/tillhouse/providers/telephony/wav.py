"""Recordings of calls: WAV of two channels at 8 kHz, written while people talk."""

import os
import struct
from pathlib import Path

_RATE = 8000
_CHANNELS = 2
_SAMPLE_BYTES = 2
_HEAD = struct.Struct("<4sI4s4sIHHIIHH4sI")
# A second of both channels, which a crash may cost.
_BUFFER_BYTES = _RATE * _CHANNELS * _SAMPLE_BYTES


class StereoWav:
    """Writes a recording: the agent on the left, the customer on the right.

    It has another name until `finish`, so that a file with the proper name is always whole.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._length = 0
        self._partial = path.with_name(path.name + ".partial")
        self._buffer = bytearray()
        # An unbuffered file: its writer decides when bytes go out.
        self._file = self._partial.open("wb", buffering=0)
        self._file.write(_head(0))

    def write(self, agent: bytes, customer: bytes) -> None:
        """Add the sound of both sides in the same time; the shorter ends in silence."""
        length = max(len(agent), len(customer)) // _SAMPLE_BYTES * _SAMPLE_BYTES
        both = bytearray(_CHANNELS * length)
        for channel, pcm in enumerate((agent, customer)):
            whole = pcm[:length].ljust(length, b"\0")
            both[2 * channel :: 4], both[2 * channel + 1 :: 4] = whole[0::2], whole[1::2]
        self._buffer += both
        self._length += len(both)
        if len(self._buffer) >= _BUFFER_BYTES:
            self._flush()

    def _flush(self) -> None:
        self._file.write(self._buffer)
        self._buffer.clear()

    def finish(self) -> None:
        """Complete the head, make sure that it is on the disk, and give it its name."""
        self._flush()
        self._file.seek(0)
        self._file.write(_head(self._length))
        os.fsync(self._file.fileno())
        self._file.close()
        self._partial.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def discard(self) -> None:
        """Leave nothing behind."""
        self._file.close()
        self._partial.unlink(missing_ok=True)


def _head(length: int) -> bytes:
    width = _CHANNELS * _SAMPLE_BYTES
    return _HEAD.pack(
        b"RIFF", _HEAD.size - 8 + length, b"WAVE", b"fmt ", 16, 1, _CHANNELS,
        _RATE, _RATE * width, width, 8 * _SAMPLE_BYTES, b"data", length,
    )  # fmt: skip
