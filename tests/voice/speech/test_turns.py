"""Turns on a line: what answers a question, what interrupts, and what is said to have been said."""

import math
from datetime import timedelta

import pytest

from tests.voice.speech.wire import Wire, letters, mixed, noise, pcm, speech, tone
from tests.waiting import ended
from tillhouse.providers.telephony.provider import Expected, HeardSentence, PartyReply
from tillhouse.voice.speech.party import SpokenParty
from tillhouse.voice.speech.turn_rules import sentences

_ANSWERS = Expected(phrases=("yes", "no"), digits_max=1)
_LONG = timedelta(seconds=20)
_DISCLOSURE = "This call is recorded."
_QUESTION = "You ordered rice for 50000. Is that right? Say yes or press 1."
_ASKED_BYTES = "You ordered rice for 50000. Is that right?"


async def _ask(wire: Wire) -> tuple[list[HeardSentence], PartyReply, list[PartyReply]]:
    """Say the disclosure, ask the question, and listen."""
    party = wire.party()
    async with wire.running():
        said, heard = await ended(_talk(party))
        overheard = list(await party.overheard(timedelta(seconds=1)))
    party.close()
    return said, heard, overheard


async def _talk(party: SpokenParty) -> tuple[list[HeardSentence], PartyReply]:
    said = [*await party.say(_DISCLOSURE, manner="whole")]
    said += await party.say(_QUESTION, manner="question")
    return said, await party.listen(_ANSWERS, _LONG)


def _text(said: list[HeardSentence]) -> str:
    return " ".join(one.text for one in said)


@pytest.mark.parametrize("early", ["yes", "1"])
async def test_what_comes_before_a_question_agrees_to_nothing(early: str) -> None:
    """Somebody who says "Yes?" as they lift the receiver, or presses a key, is only greeting."""
    wire = Wire()
    if early == "1":
        wire.presses(0.3, early)
    else:
        wire.says(0.1, speech(0.4), early)
    wire.hangs_up(9.0)
    said, heard, overheard = await _ask(wire)
    assert heard.kind == "gone"
    assert [one.text for one in overheard] == [early]
    assert wire.since(overheard[0].started_at) < 0.5
    assert _text(said) == f"{_DISCLOSURE} {_QUESTION}"


async def test_a_disclosure_cannot_be_cut_and_the_agent_goes_on() -> None:
    """A customer who talks at once hears it whole, and the first question within a second."""
    wire = Wire()
    wire.says(0.2, speech(1.0), "hello")
    wire.hangs_up(9.0)
    said, _, _ = await _ask(wire)
    assert said[0].text == _DISCLOSURE
    assert wire.since(said[0].started_at) < 0.5
    assert (said[1].started_at - said[0].ended_at).total_seconds() < 1


async def test_an_answer_counts_once_the_question_was_asked() -> None:
    """Words after the question stop its instructions within half a second, and count."""
    wire = Wire()
    asked_s = 0.06 * len(_DISCLOSURE + _ASKED_BYTES)
    wire.says(asked_s + 0.3, speech(0.6), "yes")
    said, heard, overheard = await _ask(wire)
    assert (heard.kind, heard.text, heard.is_early, overheard) == ("text", "yes", False, [])
    assert abs(wire.since(heard.started_at) - (asked_s + 0.3)) < 0.1
    assert abs(wire.since(heard.ended_at) - (asked_s + 0.9)) < 0.1
    assert (said[-1].ended_at - heard.started_at).total_seconds() < 0.5
    assert (
        _text(said)
        == letters(bytes(wire.sent))
        .replace(".Y", ". Y")
        .replace(".I", ". I")
        .replace("?S", "? S")[: len(_text(said))]
    )
    assert not _text(said).endswith("press 1.")


async def test_a_key_counts_once_the_question_was_asked() -> None:
    """Nobody has to listen to the instructions."""
    wire = Wire()
    asked_s = 0.06 * len(_DISCLOSURE + _ASKED_BYTES)
    wire.presses(asked_s + 0.2, "1")
    said, heard, _ = await _ask(wire)
    assert (heard.kind, heard.text) == ("digits", "1")
    assert (said[-1].ended_at - heard.started_at).total_seconds() < 0.1


async def test_a_cut_question_is_asked_again_shorter() -> None:
    """From the sentence that was cut to its asking part, and only then an answer counts."""
    wire = Wire()
    begins_s = 0.06 * len(_DISCLOSURE) + 0.5
    wire.says(begins_s, speech(0.6), "yes")
    again_s = begins_s + 0.6 + 1.0 + 0.06 * len(_ASKED_BYTES)
    wire.says(again_s + 0.5, speech(0.5), "no")
    said, heard, overheard = await _ask(wire)
    assert [one.text for one in overheard] == ["yes"]
    assert (heard.kind, heard.text, heard.is_early) == ("text", "no", False)
    cut, again = said[1], said[2]
    assert _QUESTION.startswith(cut.text)
    assert cut.text != _QUESTION
    assert again.text == _ASKED_BYTES
    assert wire.since(cut.ended_at) - begins_s < 0.5
    assert wire.since(again.started_at) - (begins_s + 0.6) < 1


@pytest.mark.parametrize("early_s", [0.3, 0.2, 0.1])
@pytest.mark.parametrize("question", [_QUESTION, "May I send you a link?"])
async def test_a_question_that_is_talked_over_at_its_end_is_asked_again(
    question: str, early_s: float
) -> None:
    """A yes over its last word is no answer; the agent asks at once, and doesn't wait in vain."""
    asked = question[: question.index("?") + 1]
    again = sentences(asked)[-1]
    wire, ends_s = Wire(), 0.06 * len(asked)
    wire.says(ends_s - early_s, speech(0.5), "yes")
    wire.says(ends_s - early_s + 1.5 + 0.06 * len(again), speech(0.5), "no")
    party = wire.party()
    async with wire.running():
        said = await ended(party.say(question, manner="question"))
        heard = await ended(party.listen(_ANSWERS, _LONG))
        overheard = await party.overheard(timedelta(seconds=1))
    party.close()
    assert len(said) == 2
    assert said[-1].text == again
    assert wire.since(said[-1].started_at) - (ends_s - early_s + 0.5) < 1
    assert [one.text for one in overheard] == ["yes"]
    assert (heard.text, heard.is_early) == ("no", False)


async def test_noise_at_the_end_of_a_question_asks_nothing_again() -> None:
    """Only a voice does."""
    wire = Wire()
    question = "May I send you a link?"
    wire.says(0.06 * len(question) - 0.1, noise(3.0, -30))
    party = wire.party()
    async with wire.running():
        said = await ended(party.say(question, manner="question"))
    party.close()
    assert _text([*said]) == question


@pytest.mark.parametrize("hum_hz", [None, 30.0, 50.0, 100.0, 148.0])
@pytest.mark.parametrize("begins_s", [0.0, 2.0])
async def test_noise_of_a_line_cuts_nothing(hum_hz: float | None, begins_s: float) -> None:
    """Up to -30 dBFS, from the first moment or since a moment, and words still stand out of it."""
    wire = Wire(noise(31, -30, hum_hz)) if not begins_s else Wire()
    asked_s = 0.06 * len(_DISCLOSURE + _QUESTION)
    if begins_s:
        wire.says(begins_s, noise(asked_s - begins_s, -30, hum_hz))
    wire.says(asked_s + 1, speech(0.6, 12_000), "yes")
    said, heard, overheard = await _ask(wire)
    assert _text(said) == f"{_DISCLOSURE} {_QUESTION}"
    assert (heard.kind, heard.text, overheard) == ("text", "yes", [])


@pytest.mark.parametrize("pitches_hz", [(90.0, 97.0), (50.0, 53.0), (140.0, 145.0)])
async def test_a_hum_that_swells_cuts_nothing(pitches_hz: tuple[float, float]) -> None:
    """Two machines that hum beside each other: it is no steadier than a voice, but deeper."""
    one, other = (noise(31, -33, pitch) for pitch in pitches_hz)
    wire = Wire(mixed(one, other))
    asked_s = 0.06 * len(_DISCLOSURE + _QUESTION)
    wire.says(asked_s + 1, speech(0.6, 12_000), "yes")
    said, heard, overheard = await _ask(wire)
    assert _text(said) == f"{_DISCLOSURE} {_QUESTION}"
    assert (heard.kind, heard.text, overheard) == ("text", "yes", [])


async def test_nothing_that_was_not_heard_is_said_to_have_been() -> None:
    """A customer who hangs up after 0.7 s heard a few words of the disclosure."""
    wire = Wire()
    wire.hangs_up(0.7)
    said, heard, _ = await _ask(wire)
    assert heard.kind == "gone"
    assert _text(said) == "This call"
    assert letters(bytes(wire.sent)).startswith(_text(said))


async def test_words_that_cut_an_open_text_are_heard_and_agree_to_nothing() -> None:
    """A model hears that it was interrupted, and by which words."""
    wire = Wire()
    wire.says(1.0, speech(0.6), "wait")
    party = wire.party()
    async with wire.running():
        said = await ended(party.say(_QUESTION, manner="open"))
        heard = await ended(party.listen(_ANSWERS, _LONG))
    party.close()
    assert (heard.text, heard.is_early) == ("wait", True)
    assert _QUESTION.startswith(_text([*said]))
    assert wire.since(said[-1].ended_at) < 1.5


async def test_a_customer_who_never_stops_talking_is_asked_all_the_same() -> None:
    """After two cuts the question is asked up to its asking part."""
    wire = Wire()
    for number in range(12):
        wire.says(1.6 + 1.6 * number, speech(0.7), "and another thing")
    wire.hangs_up(25.0)
    said, _, _ = await _ask(wire)
    assert said[-1].text.endswith("Is that right?")


# Two seconds that rise from 200 to 1,200 Hz, again and again: a sound, and no beep.
_SWEEP = 4 * pcm(9000 * math.sin(2 * math.pi * (200 + 250 * t) * t) for t in
                 (at / 8000 for at in range(16_000)))  # fmt: skip


@pytest.mark.parametrize(
    ("greeting", "is_machine"),
    [
        ([speech(0.5)], False),
        ([speech(1.8)], False),
        ([speech(0.5), bytes(8000), speech(0.5), bytes(8000), speech(0.5)], False),
        ([speech(6.0)], True),
        ([speech(1.5), bytes(6400), tone(1000, 0.5)], True),
        ([tone(440, 5.0)], False),
        ([_SWEEP], False),
    ],
)
async def test_a_machine_is_told_by_its_greeting(
    greeting: list[bytes], *, is_machine: bool
) -> None:
    """It talks for long, or beeps; the agent knows once the machine records."""
    wire = Wire()
    sound = b"".join(greeting)
    wire.says(0.4, sound, "you have reached the mailbox")
    party = wire.party()
    async with wire.running():
        await ended(party.say(_DISCLOSURE, manner="whole"))
        assert await ended(party.is_machine()) == is_machine
        if is_machine:
            assert wire.seconds >= 0.4 + len(sound) / 16_000 - 0.1
            assert wire.seconds <= 0.4 + len(sound) / 16_000 + 2.5
    party.close()


@pytest.mark.parametrize(
    ("answer", "is_machine"),
    [(speech(4.0), False), (speech(1.5) + bytes(3200) + tone(1000, 0.4), True)],
    ids=["talks", "beeps"],
)
async def test_after_a_question_only_a_beep_is_a_machines(
    answer: bytes, *, is_machine: bool
) -> None:
    """A person who was asked may talk for long; a machine that greets late isn't asked again."""
    wire = Wire()
    wire.says(0.06 * len(_DISCLOSURE + _QUESTION) + 1, answer, "well")
    party = wire.party()
    async with wire.running():
        await ended(_talk(party))
        assert await ended(party.is_machine()) == is_machine
    party.close()


async def test_a_loud_tone_keeps_nobody_waiting() -> None:
    """A dial tone or hold music's note: the question is asked, and nothing waits for its end."""
    wire = Wire()
    wire.says(0.2, tone(700, 20.0))
    wire.hangs_up(19.0)
    said, _, _ = await _ask(wire)
    assert _text(said).endswith("Say yes or press 1.")
    assert wire.since(said[-1].ended_at) < 0.06 * len(_DISCLOSURE + _QUESTION) + 1.5
