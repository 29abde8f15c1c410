"""A party made of sound: keys and words come through, and stop what is being said."""

import asyncio
import struct
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.waiting import ended
from tillhouse.kit.clock import now
from tillhouse.providers.telephony.provider import Digit, Expected
from tillhouse.voice.conversation.script_rules import SCRIPTS, AskStep, expected_of, is_opt_out
from tillhouse.voice.speech.party import LineEngines, SpokenParty
from tillhouse.voice.speech.protocols import HeardWords, NotHeard
from tillhouse.voice.speech.utterances import Utterances

_LOUD, _QUIET = struct.pack("<160h", *[3000, -3000] * 80), bytes(320)
_SOFT = struct.pack("<160h", *[1500, -1500] * 80)
_SHORT, _LONG = timedelta(milliseconds=50), timedelta(seconds=30)


class Speaker:
    """Speaks a second for each text."""

    async def speak(self, text: str, language: str) -> bytes:
        """Sound."""
        return bytes(16_000)


class Ear:
    """Hears what it was told that it would."""

    def __init__(self, *words: str) -> None:
        self.words = list(words)
        self.heard: list[int] = []

    async def hear(self, pcm: bytes, phrases: tuple[str, ...], language: str) -> HeardWords | None:
        """The next words; an empty one fails."""
        self.heard.append(len(pcm) // 320)
        word = self.words.pop(0)
        if not word:
            raise NotHeard("no engine")
        return HeardWords(word, 0.9)


class Sounding:
    """Sound that plays until it is stopped."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.played = 0

    async def done(self) -> None:
        """Return once it was stopped."""
        await self.over.wait()

    def stop(self) -> None:
        """End it."""
        self.over.set()


class Line:
    """The sound of a line, made by the test."""

    def __init__(self) -> None:
        self.playing: list[Sounding] = []
        self.started = asyncio.Event()
        self.came: asyncio.Queue[bytes | Digit | None] = asyncio.Queue()

    def play(self, pcm: bytes) -> Sounding:
        """Note it."""
        self.playing.append(Sounding())
        self.started.set()
        return self.playing[-1]

    async def heard(self) -> AsyncIterator[bytes | Digit]:
        """Everything that the test puts in."""
        while (one := await self.came.get()) is not None:
            yield one

    def press(self, keys: str) -> None:
        """Press keys."""
        for key in keys:
            self.came.put_nowait(Digit(key))

    def talk(self, frames: int) -> None:
        """Say something, and be quiet."""
        for frame in [_LOUD] * frames + [_QUIET] * 60:
            self.came.put_nowait(frame)


def _party(line: Line, ear: Ear | None = None) -> SpokenParty:
    return SpokenParty(line, LineEngines(Speaker(), ear, "en"), now)


@pytest.mark.parametrize(
    ("pressed", "digits_max", "kind", "text"),
    [("1", 1, "digits", "1"), ("123", 3, "digits", "123"), ("12#", 5, "digits", "12"),
     ("", 1, "nothing", ""), ("1", 0, "nothing", "")],
)  # fmt: skip
async def test_keys_are_an_answer(pressed: str, digits_max: int, kind: str, text: str) -> None:
    """As many as are expected, or up to the hash; none where none are expected."""
    line = Line()
    party = _party(line)
    line.press(pressed)
    heard = await ended(party.listen(Expected(digits_max=digits_max), _SHORT))
    party.close()
    assert (heard.kind, heard.text) == (kind, text)


async def test_the_key_of_those_who_want_no_more_calls_counts_at_every_question() -> None:
    """Also at one that is answered in the customer's own words, where other keys are nothing."""
    for script in SCRIPTS.values():
        for step in script.values():
            if not isinstance(step, AskStep):
                continue
            line = Line()
            party = _party(line)
            line.press("9" if step.choices else "49")
            heard = await ended(party.listen(expected_of(step), _LONG))
            party.close()
            assert is_opt_out(heard), step


async def test_a_key_stops_what_is_said_and_counts() -> None:
    """Nobody has to listen to the end, once it was asked; the answer is not lost."""
    line = Line()
    party = _party(line)
    saying = asyncio.ensure_future(party.say("A long question", manner="question"))
    await ended(line.started.wait())
    line.playing[0].played = 16_000
    line.press("2")
    await ended(saying)
    heard = await ended(party.listen(Expected(digits_max=1), _LONG))
    party.close()
    assert line.playing[0].over.is_set()
    assert (heard.kind, heard.text) == ("digits", "2")


async def test_words_are_an_answer() -> None:
    """An utterance ends with a pause; an engine that fails is asked about the next one."""
    line, ear = Line(), Ear("", "yes")
    party = _party(line, ear)
    line.talk(30)
    line.talk(20)
    heard = await ended(party.listen(Expected(phrases=("yes", "no")), _LONG))
    party.close()
    assert (heard.kind, heard.text, heard.confidence) == ("text", "yes", 0.9)
    assert len(ear.heard) == 2


async def test_a_line_that_is_over_is_told() -> None:
    """At once, however long the patience; saying something returns, too."""
    line = Line()
    party = _party(line)
    line.came.put_nowait(None)
    heard = await ended(party.listen(Expected(digits_max=1), _LONG))
    await ended(party.say("Are you there?"))
    assert heard.kind == "gone"


def test_an_utterance_is_cut_out_of_silence_and_bounded() -> None:
    """With a little of the silence before it; a sound without end is cut, too."""
    utterances = Utterances()
    frames = [_QUIET] * 100 + [_LOUD] * 10 + [_QUIET] * 100
    (found,) = [one for frame in frames if (one := utterances.take(frame))]
    assert 20 <= len(found.sound) // 320 <= 60
    assert (found.began_ago, found.ended_ago) == (50, 40)
    frames = [_LOUD, _LOUD, _SOFT] * 834
    endless = [one for frame in frames if (one := utterances.take(frame))]
    assert [len(one.sound) // 320 for one in endless] == [1000, 1000]


def test_a_loud_sound_that_never_varies_is_no_speech() -> None:
    """A tone or a machine beside the telephone keeps nobody waiting, and words stand out of it."""
    utterances = Utterances()
    for _ in range(500):
        assert utterances.take(_LOUD) is None
    assert not utterances.is_talking
