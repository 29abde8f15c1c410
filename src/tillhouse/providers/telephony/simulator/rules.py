"""The people of the simulated network, by the end of their number: pure decisions.

The same number answers in the same way each time; the seed, the number and the attempt decide how
long it rings and how fast somebody talks.
"""

import hashlib
from datetime import timedelta
from typing import Literal

import msgspec

from tillhouse.providers.telephony.provider import FRAME_BYTES, Expected, Result

Manner = Literal["yes", "no", "keys", "silent", "opts_out", "hangs_up", "breaks"]

RINGS_FIRST = timedelta(seconds=1)
_LETTERS_PER_S = 15
STOP_CALLING = "stop calling me"


class SimulatedPerson(msgspec.Struct, frozen=True, kw_only=True):
    """The behaviour of a number in one attempt."""

    # None: it is answered.
    refuses: Result | None = None
    # Whether it rings before it refuses.
    rings: bool = True
    is_machine: bool = False
    manner: Manner = "yes"
    sip_status: int = 200
    detail: str = ""


_REFUSALS: dict[str, SimulatedPerson] = {
    "0101": SimulatedPerson(refuses="busy", rings=False, sip_status=486, detail="Busy Here"),
    "0102": SimulatedPerson(refuses="no_answer", sip_status=480, detail="Temporarily Unavailable"),
    "0104": SimulatedPerson(refuses="declined", sip_status=603, detail="Decline"),
    "0105": SimulatedPerson(
        refuses="provider_unavailable", rings=False, sip_status=503, detail="Service Unavailable"
    ),
    "0106": SimulatedPerson(
        refuses="invalid_destination", rings=False, sip_status=404, detail="Not Found"
    ),
    "0113": SimulatedPerson(refuses="unwanted", sip_status=607, detail="Unwanted"),
}
_MANNERS: dict[str, SimulatedPerson] = {
    "0103": SimulatedPerson(is_machine=True),
    "0107": SimulatedPerson(manner="hangs_up"),
    "0108": SimulatedPerson(manner="opts_out"),
    "0109": SimulatedPerson(manner="keys"),
    "0110": SimulatedPerson(manner="no"),
    "0111": SimulatedPerson(manner="silent"),
    "0114": SimulatedPerson(manner="breaks"),
}
# They refuse the first attempt, and answer the next one.
_LATER: dict[str, SimulatedPerson] = {"0112": _REFUSALS["0101"], "0115": _REFUSALS["0105"]}


def person_at(number: str, attempt: int) -> SimulatedPerson:
    """The person at a number, in an attempt that is counted from 1."""
    ending = number[-4:]
    if attempt == 1 and ending in _LATER:
        return _LATER[ending]
    return _REFUSALS.get(ending) or _MANNERS.get(ending) or SimulatedPerson()


class Chance:
    """Numbers that look random and are always the same for one seed, number and attempt."""

    def __init__(self, seed: int, number: str, attempt: int) -> None:
        self._seed = f"{seed}:{number}:{attempt}"

    def seconds(self, what: str, least: float, most: float) -> float:
        """A time in whole frames of 20 ms."""
        digest = hashlib.sha256(f"{self._seed}:{what}".encode()).digest()
        part = int.from_bytes(digest[:4], "big") / 2**32
        return round((least + (most - least) * part) * 50) / 50


def spoken_s(text: str) -> float:
    """How long it takes to say a text, in whole frames of 20 ms."""
    return max(0.4, round(len(text) / _LETTERS_PER_S * 50) / 50)


def played_s(size: int) -> float:
    """How long it takes to play so many bytes of sound, in whole frames of 20 ms."""
    return -(-size // FRAME_BYTES) / 50


def reply_of(
    person: SimulatedPerson, expected: Expected
) -> tuple[Literal["text", "digits"], str] | None:
    """The answer of a person to a question; None: nothing is said."""
    match person.manner:
        case "silent":
            return None
        case "opts_out":
            return "text", STOP_CALLING
        case "keys" if expected.digits_max:
            return "digits", "1"
        case "no" if "no" in expected.phrases:
            return "text", "no"
        case _ if expected.phrases:
            return "text", expected.phrases[-1 if person.manner == "no" else 0]
        case _:
            return "text", "thank you"
