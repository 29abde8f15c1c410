"""Speaking by espeak-ng, where it is installed, and sound at the rate of telephones."""

import math
import struct
import sys
from pathlib import Path

import pytest

from tests.conftest import SETTINGS
from tests.tools import needs
from tests.voice.speech.test_party import Line
from tillhouse.kit.clock import now
from tillhouse.voice.speech.engines import Engines
from tillhouse.voice.speech.espeak import Espeak
from tillhouse.voice.speech.party import SpokenParty
from tillhouse.voice.speech.protocols import NotSpoken
from tillhouse.voice.speech.resampling import to_telephone


def _power(pcm: bytes) -> float:
    samples = struct.unpack(f"<{len(pcm) // 2}h", pcm)
    return math.sqrt(sum(one * one for one in samples) / len(samples))


def _tone(pitch: float, rate: int) -> list[int]:
    return [round(10_000 * math.sin(2 * math.pi * pitch * at / rate)) for at in range(rate // 2)]


@pytest.mark.parametrize("rate", [8000, 16_000, 22_050, 44_100])
def test_a_tone_keeps_its_pitch_and_loudness(rate: int) -> None:
    """Sample by sample it is the tone at 8 kHz, but for its ends."""
    found = struct.unpack("<4000h", to_telephone(_tone(440, rate), rate))
    expected = _tone(440, 8000)
    assert max(abs(one - two) for one, two in zip(found[50:-50], expected[50:], strict=False)) < 150


def test_tones_that_a_telephone_cannot_carry_are_left_out() -> None:
    """They would come back as others."""
    assert _power(to_telephone(_tone(6000, 22_050), 22_050)) < 0.02 * 10_000


@pytest.mark.proof
@needs("espeak-ng")
async def test_words_become_sound() -> None:
    """Seconds of it, and what looks like an option is spoken."""
    espeak = Espeak.found()
    assert espeak is not None
    sound = await espeak.speak("--help is what I say to you.", "en-NG")
    assert 1 < len(sound) / 16_000 < 10
    assert _power(sound) > 500


@pytest.mark.proof
@needs("espeak-ng")
@pytest.mark.parametrize(("language", "same"), [("fr", "fr-ZZ"), ("pt-BR", "pt-BR")])
async def test_each_language_has_its_voice(language: str, same: str) -> None:
    """The country's where there is one, else the language's, and not English."""
    espeak = Espeak.found()
    assert espeak is not None
    sound = await espeak.speak("Bonjour, dix", language)
    assert sound == await espeak.speak("Bonjour, dix", same)
    others = {await espeak.speak("Bonjour, dix", other) for other in ("en", "pt")}
    assert sound not in others


@pytest.mark.proof
@needs("espeak-ng")
async def test_a_voice_that_is_not_there_is_said() -> None:
    """The operator hears which."""
    espeak = Espeak.found()
    assert espeak is not None
    with pytest.raises(NotSpoken, match="xx-none"):
        await espeak.speak("Hello", "xx-none")


@pytest.mark.proof
@needs("espeak-ng")
async def test_a_line_with_sound_becomes_a_party() -> None:
    """The agents of calls by SIP speak by it; a party stays as it is."""
    line, engines = Line(), Engines(SETTINGS)
    made = engines.party_of(line, now, "en")
    assert isinstance(made, SpokenParty)
    assert engines.party_of(made, now, "en") is made
    assert engines.party_of(None, now, "en") is None
    engines.close()
    made.close()


async def test_a_program_that_answers_nonsense_is_refused(tmp_path: Path) -> None:
    """No crash, and no noise on the line."""
    program = tmp_path / "program"
    program.write_text(f"#!{sys.executable}\nprint('RIFF and nothing else')\n")
    program.chmod(0o755)
    with pytest.raises(NotSpoken, match="no WAV"):
        await Espeak(str(program)).speak("Hello", "en")
