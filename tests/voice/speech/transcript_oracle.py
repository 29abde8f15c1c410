"""Generated calls, whose transcripts are held against the sound that was on the wire.

Each call is drawn from its seed: a customer who greets, interrupts, presses keys, answers early or
late, in noise or not, or hangs up. Faults come back as sentences.
"""

import random
from collections.abc import Sequence
from datetime import timedelta

from tests.voice.speech.wire import Wire, letters, noise, speech
from tests.waiting import ended
from tillhouse.providers.telephony.provider import Expected, HeardSentence, PartyReply

_DISCLOSURE = "This call is recorded."
_GREETING = "Hello, this is Ada."
_QUESTIONS = (
    "You ordered rice for 50000. Is that right? Say yes or press 1.",
    "May I send you a link?",
    "It is about tonight. Do you agree? Say yes, or no.",
)
_BYTES_PER_S = 16_000
_OFF_S_MAX = 0.15
# A voice dies away in the noise, up to its last syllable; a line may end within a word.
_FADES_S_MAX = 0.25


class _Customer:
    """Everything that the customer does, drawn from a seed."""

    def __init__(self, wire: Wire, chance: random.Random) -> None:
        self.meant: list[tuple[float, float, str]] = []
        self.pressed: list[float] = []
        at = chance.uniform(0.1, 3.0)
        while at < 25:
            at = self._act(wire, chance, at)
        if chance.random() < 0.3:
            wire.hangs_up(chance.uniform(0.3, 14.0))
        wire.hangs_up(40.0)

    def _act(self, wire: Wire, chance: random.Random, at: float) -> float:
        """Talk or press a key; when the customer does something again."""
        if chance.random() < 0.3:
            wire.presses(at, "1")
            self.pressed.append(at)
            return at + chance.uniform(0.5, 4.0)
        lasts = chance.uniform(0.5, 1.6)
        word = f"word{len(self.meant)}"
        wire.says(at, speech(lasts, 9000, len(self.meant)), word)
        self.meant.append((at, at + lasts, word))
        return at + lasts + chance.uniform(1.4, 6.0)


async def faults(seed: int) -> list[str]:
    """The faults of one call."""
    chance = random.Random(seed)  # noqa: S311 - the same call each time
    background = noise(3, chance.uniform(-60, -31), seed=seed) if seed % 2 else b""
    wire = Wire(background)
    customer = _Customer(wire, chance)
    question = chance.choice(_QUESTIONS)
    party = wire.party()
    said: list[HeardSentence] = []
    async with wire.running():
        said += await ended(party.say(_DISCLOSURE, manner="whole"))
        said += await ended(party.say(_GREETING))
        asked_from = wire.seconds
        said += await ended(party.say(question, manner="question"))
        expected = Expected(phrases=("yes",), digits_max=1)
        answer = await ended(party.listen(expected, timedelta(seconds=20)))
        overheard = [*await party.overheard(timedelta(seconds=1))]
    party.close()
    found = _said_faults(wire, said) + _heard_faults(wire, customer, [*overheard, answer])
    if answer.kind in ("text", "digits"):
        found += _answer_faults(wire, question, asked_from, answer)
    return [f"call {seed}: {one}" for one in found]


def _between(wire: Wire, begins_s: float, ends_s: float) -> str:
    """The letters that were on the wire from one moment to another, without blanks."""
    first, last = round(begins_s * _BYTES_PER_S), round(ends_s * _BYTES_PER_S)
    return letters(bytes(wire.sent[first:last])).replace(" ", "")


def _said_faults(wire: Wire, said: Sequence[HeardSentence]) -> list[str]:
    """Everything on the wire is told, but for a word that was cut, and nothing else."""
    found: list[str] = []
    for index, one in enumerate(said):
        ends = said[index + 1].started_at if index + 1 < len(said) else wire.now()
        sent = _between(wire, wire.since(one.started_at), wire.since(ends))
        told = one.text.replace(" ", "")
        if not sent.startswith(told) or len(sent) - len(told) > len("recorded."):
            found.append(f"{told!r} is told, and {sent!r} was sent")
    return found


def _heard_faults(wire: Wire, customer: _Customer, heard: Sequence[PartyReply]) -> list[str]:
    """The customer's words stand at the time at which they were said."""
    found: list[str] = []
    for one in heard:
        began, ended_at = wire.since(one.started_at), wire.since(one.ended_at)
        if one.kind == "digits":
            is_there = any(abs(at - began) <= _OFF_S_MAX for at in customer.pressed)
        elif one.kind == "text":
            # The engine of these calls takes utterances in the order in which it is asked.
            is_there = any(
                abs(begins - began) <= _OFF_S_MAX
                and abs(min(ends, wire.seconds) - ended_at) <= _FADES_S_MAX
                for begins, ends, _ in customer.meant
            )
        else:
            continue
        if not is_there:
            found.append(f"{one.text!r} is told at {began:.2f} to {ended_at:.2f} s")
    return found


def _answer_faults(wire: Wire, question: str, asked_from: float, answer: PartyReply) -> list[str]:
    """An answer begins after all words up to the question mark were on the wire."""
    asking = question[: question.rindex("?") + 1]
    sent = _between(wire, asked_from, wire.since(answer.started_at) + 0.03)
    missing = [part for part in asking.split() if part not in sent]
    return [f"{answer.text!r} answers although {missing} wasn't asked"] if missing else []
