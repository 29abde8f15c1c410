"""Recordings: both sides in their own channel, and a file that is whole when it has its name."""

import wave
from pathlib import Path

from tillhouse.providers.telephony.wav import StereoWav


def test_the_agent_is_left_and_the_customer_right(tmp_path: Path) -> None:
    """The file says what it is; the shorter side ends in silence."""
    path = tmp_path / "call.wav"
    recording = StereoWav(path)
    recording.write(b"\1\2" * 160, b"\3\4" * 160)
    recording.write(b"\5\6" * 160, b"\7\0")
    assert not path.exists()
    recording.finish()
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, 8000)
        assert file.getnframes() == 320
        frames = file.readframes(320)
    left = b"".join(frames[at : at + 2] for at in range(0, len(frames), 4))
    right = b"".join(frames[at + 2 : at + 4] for at in range(0, len(frames), 4))
    assert left == b"\1\2" * 160 + b"\5\6" * 160
    assert right == b"\3\4" * 160 + b"\7\0" + bytes(318)


def test_a_long_recording_is_on_the_disk_before_it_is_finished(tmp_path: Path) -> None:
    """A process that dies loses a second; nothing has the name of a whole recording."""
    recording = StereoWav(tmp_path / "call.wav")
    for _ in range(120):
        recording.write(bytes(320), bytes(320))
    (partial,) = tmp_path.iterdir()
    assert partial.name != "call.wav"
    assert partial.stat().st_size >= 2 * 8000 * 4
    recording.discard()
    assert not list(tmp_path.iterdir())
