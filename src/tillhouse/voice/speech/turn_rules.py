"""Rules of turns: which part of a text asks, how much was heard, and which words answer it.

Everything that is said is numbered; a moment is the number, and how much of it was played then.
"""

import re
from collections.abc import Sequence

import msgspec

from tillhouse.providers.telephony.provider import Manner, words_until

# Somebody may cut a text so often; then it is said to its end, or to its asking part.
CUTS_MAX = 2
_SENTENCE = re.compile(r".+?(?:[.!?\u2026\u3002\uff1f\uff01]+(?=\s|$)|$)\s*", re.DOTALL)
_ASKS = re.compile(r"[?\uff1f]\W*$")


class PlaybackMoment(msgspec.Struct, frozen=True, order=True):
    """A moment of a conversation: how much of which text had been played."""

    number: int
    played: int


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """A text that is being said, or was said last."""

    number: int
    manner: Manner
    # So often it was cut already.
    cuts: int = 0
    # The bytes up to the end of its asking part; None: not known yet, or it asks nothing.
    asks_until: int | None = None


START = Asking(number=0, manner="question", asks_until=0)


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [found.strip() for found in _SENTENCE.findall(text) if found.strip()] or [text]


def asking_part(parts: Sequence[str]) -> int:
    """The index of the last sentence that asks; without one, of the last."""
    asking = [index for index, part in enumerate(parts) if _ASKS.search(part)]
    return asking[-1] if asking else len(parts) - 1


def asking_share(text: str) -> float:
    """The share of a text up to the end of its question; all of it where it has none."""
    end = max(text.rfind("?"), text.rfind("\uff1f"))
    return (end + 1) / len(text) if end >= 0 else 1.0


def answers(asking: Asking, moment: PlaybackMoment) -> bool:
    """Whether something that began then answers: the asking part had been heard."""
    is_about_it = moment.number == asking.number
    return is_about_it and asking.asks_until is not None and moment.played >= asking.asks_until


def is_heard_out(asking: Asking, moment: PlaybackMoment) -> bool:
    """Whether something that began then is taken in by `listen`, as an answer or not."""
    cuts_it = asking.manner == "open" and moment.number == asking.number
    return cuts_it or answers(asking, moment)


def cuts(asking: Asking, moment: PlaybackMoment, *, is_key: bool) -> bool:
    """Whether something that began then stops the text."""
    if moment.number != asking.number or asking.manner == "whole":
        return False
    if asking.manner != "statement" and answers(asking, moment):
        return True
    return not is_key and (asking.manner == "open" or asking.cuts < CUTS_MAX)


def heard_words(text: str, within: tuple[int, int], played: int) -> str:
    """The words of a sentence that were heard when so much of its sound was played."""
    begins, ends = within
    return words_until(text, (played - begins) / max(1, ends - begins))
