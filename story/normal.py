"""Values that differ between recordings are replaced: ids, times, secrets, codes, latencies.

The same thing gets the same name wherever it stands, so two recordings are equal byte by byte.
"""

import hashlib
import re
import string
from bisect import bisect_right
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# The sandbox names its messages without dashes.
_BARE_ID = re.compile(r"(?<=sandbox\.)[0-9a-f]{32}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_DATE = re.compile(r"(?<![\d-])\d{4}-\d\d-\d\d(?![\dT-])")
# An API key has two parts; other secrets are one word of any letters.
_TOKEN = re.compile(r"\b(th[ps]k_(?:test|live)_)([A-Za-z0-9_]+)")
_WORD = re.compile(r"\b(thrt_|thin_|thpw_|whsec_)([A-Za-z0-9+/=_-]+)")
_LINK = re.compile(r"\b(pl_)([A-Za-z0-9]{22,})")
_JWT = re.compile(r"\b(eyJ)([\w-]+\.[\w-]+\.[\w-]+)")
_ADDRESS = re.compile(r"([^\s?]*\?until=)(\d+)(&mark=)([\w-]+)")
# The signature of a place in the wallet's statement.
_CURSOR = re.compile(r"((?:_-?\d+(?:\.\d+)?){2}_)([\w-]{43})(?![\w-])")
_CODES = {"shortCode", "orderShortCode"}
# The secret of a second factor, and a code that is made of it.
_FACTOR_SECRET, _FACTOR_CODE = re.compile(r"[A-Z2-7]{32}"), re.compile(r"[0-9]{6}")
_BASE32 = string.ascii_uppercase + "234567"
_CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_REFERENCE = re.compile(r"\bTXN-[2-9A-HJ-NP-Z]{12}\b")
# How long something took, and how much was counted by then, whatever it was.
_MEASURED = {
    "secondsInStage": 240,
    "latencyMs": 41,
    "totalLatencyMs": 15408,
    "storedRows": 12,
    "storedBytes": 4096,
}
_PHASES = {"resolve": 1, "connect": 9, "answer": 31}

# Moments of the recording itself are replaced; others were given by the story.
_BEFORE = timedelta(hours=1)
_AFTER = timedelta(days=40)
_MINUTE = timedelta(minutes=1)
# Africa/Lagos, where the story plays, is so far ahead of UTC.
_EAST = timedelta(hours=1)
# The events of one call lie a millisecond apart and end with its own moment, so the first of many
# lies this much before it; rounding on the way through the database is less.
ROUNDED = timedelta(milliseconds=15)


class Clock:
    """The moments of the story: each exchange has one, and real moments between two are its."""

    def __init__(self, began: datetime) -> None:
        self._began = began
        self._starts: list[datetime] = []
        self._story: list[datetime] = []
        self._later: dict[str, str] = {}

    def exchange(self, real: datetime, story: datetime) -> None:
        """An exchange begins, at this real moment and at this one of the story."""
        self._starts.append(real)
        self._story.append(story)

    @property
    def now(self) -> datetime:
        """The moment of the present exchange in the story."""
        return self._story[-1]

    def moment(self, text: str) -> str:
        """The moment of the story that a real one stands for."""
        if text in self._later:
            return self._later[text]
        real = datetime.fromisoformat(text)
        if not self._began - _BEFORE <= real <= self._began + _AFTER:
            return text
        since = real - self._starts[-1]
        if since < _MINUTE:
            index = max(bisect_right(self._starts, real + ROUNDED) - 1, 0)
            return _written(self._story[index])
        # Something to come: so many minutes from now.
        moment = self._story[-1] + round(since / _MINUTE) * _MINUTE
        self._later[text] = _written(moment)
        return self._later[text]

    def day(self, text: str) -> str:
        """The day of the story that a real one stands for."""
        try:
            real = datetime.fromisoformat(text + "T00:00:00+00:00")
        except ValueError:
            return text
        if not self._began - _AFTER <= real <= self._began + _AFTER:
            return text
        # In the last hour of the day it is tomorrow already where the story plays.
        there = (self._starts[-1] + _EAST).date()
        today = there if real.date() >= there else self._starts[-1].date()
        days = (today - real.date()).days
        return (self._story[-1].date() - timedelta(days=days)).isoformat()


class Normal:
    """Replaces what is random or depends on the time of day."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ids: dict[str, str] = {}
        self._codes: dict[str, str] = {}
        self._references: dict[str, str] = {}
        self._secrets: dict[str, str] = {}
        self._names: dict[str, int] = {}

    def body(self, value: Any, where: str) -> Any:
        """A decoded body."""
        self._learn(value, where)
        return self._replaced(value, where)

    def text(self, text: str, where: str) -> str:
        """A text with everything replaced that it names."""
        text = _ID.sub(lambda found: self._id(found[0], where), text)
        text = _BARE_ID.sub(
            lambda found: self._id(str(UUID(found[0])), where).replace("-", ""), text
        )
        text = _TIME.sub(lambda found: self._clock.moment(found[0]), text)
        text = _DATE.sub(lambda found: self._clock.day(found[0]), text)
        text = _TOKEN.sub(lambda found: found[1] + self._secret(found[2], where, "_"), text)
        text = _WORD.sub(lambda found: found[1] + self._secret(found[2], where, "="), text)
        text = _LINK.sub(lambda found: found[1] + self._secret(found[2], where, "_"), text)
        text = _JWT.sub(lambda found: found[1] + _shaped(found[2], where, "."), text)
        text = _CURSOR.sub(lambda found: found[1] + self._secret(found[2], where), text)
        text = _ADDRESS.sub(_address, text)
        text = _REFERENCE.sub(lambda found: self._reference(found[0]), text)
        for real, code in self._codes.items():
            text = text.replace(real, code)
        return text

    def _reference(self, real: str) -> str:
        if real not in self._references:
            self._references[real] = "TXN-" + _letters(self._fresh("reference"), _CODE_LETTERS, 12)
        return self._references[real]

    def _replaced(self, value: Any, where: str) -> Any:
        if isinstance(value, dict):
            return {
                name: _measured(name, inner) or self._replaced(inner, f"{where}.{name}")
                for name, inner in value.items()
            }
        if isinstance(value, list):
            return [self._replaced(item, where) for item in value]
        return self.text(value, where) if isinstance(value, str) else value

    def _learn(self, value: Any, where: str) -> None:
        """Codes and whole secrets first: other texts quote them, in part perhaps."""
        if isinstance(value, list):
            for item in value:
                self._learn(item, where)
        if not isinstance(value, dict):
            return
        for name, inner in value.items():
            if name in _CODES and isinstance(inner, str) and inner not in self._codes:
                self._codes[inner] = _letters(self._fresh("code"), _CODE_LETTERS, 8)
            if name == "secret" and isinstance(inner, str):
                self.text(inner, f"{where}.{name}")
                if _FACTOR_SECRET.fullmatch(inner):
                    self._codes[inner] = _letters(self._fresh("factor"), _BASE32, len(inner))
            if name == "recoveryCodes" and isinstance(inner, list):
                for code in inner:
                    told = _letters(self._fresh("recovery code"), _CODE_LETTERS, len(code))
                    self._codes[code] = "-".join(told[at : at + 4] for at in (0, 4, 8))
            self._learn(inner, where)

    def _fresh(self, where: str) -> str:
        """A name for a new value: where it stands, and how many came before it there."""
        self._names[where] = self._names.get(where, 0) + 1
        return f"{where} {self._names[where]}"

    def _id(self, real: str, where: str) -> str:
        if real not in self._ids:
            digits = hashlib.sha256(self._fresh(where).encode()).hexdigest()
            at = int(self._clock.now.timestamp() * 1000)
            made = f"{at >> 16:08x}-{at & 0xFFFF:04x}-{real[14]}{digits[:3]}-9{digits[3:6]}"
            self._ids[real] = f"{made}-{digits[6:18]}"
        return self._ids[real]

    def _secret(self, real: str, where: str, joints: str = "") -> str:
        if real not in self._secrets:
            whole = [known for known in self._secrets if known.startswith(real)]
            if whole:
                return self._secrets[whole[0]][: len(real)]
            shaped = _shaped(real, self._fresh(where), joints)
            self._secrets[real] = self._with_known_parts(real, shaped)
        return self._secrets[real]

    def _with_known_parts(self, real: str, shaped: str) -> str:
        for known, told in self._secrets.items():
            if len(known) >= 8 and real.startswith(known):
                return told + shaped[len(told) :]
        return shaped


def _address(found: re.Match[str]) -> str:
    """A signed address, told by its path: its time changes from one second to the next."""
    until, mark = _shaped(found[2], f"{found[1]} until"), _shaped(found[4], f"{found[1]} mark")
    return f"{found[1]}{_digits(until)}{found[3]}{mark}"


def _measured(name: str, value: Any) -> Any:
    # A connection that is there already has no phases but the last.
    if name == "phasesMs" and isinstance(value, dict) and value.keys() <= _PHASES.keys():
        return _PHASES
    if name == "code" and isinstance(value, str) and _FACTOR_CODE.fullmatch(value):
        return "492039"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _MEASURED.get(name) if is_number else None


def _letters(name: str, alphabet: str, count: int) -> str:
    """So many letters, always the same ones for a name."""
    found = ""
    block = 0
    while len(found) < count:
        digest = hashlib.sha256(f"{name}/{block}".encode()).digest()
        found += "".join(alphabet[byte % len(alphabet)] for byte in digest)
        block += 1
    return found[:count]


def _shaped(real: str, name: str, joints: str = "") -> str:
    """Letters in the shape of the real ones: what joins parts of a token stays."""
    told = _letters(name, string.ascii_letters + string.digits, len(real))
    return "".join(r if r in joints else t for r, t in zip(real, told, strict=True))


def _digits(text: str) -> str:
    return "".join(str(ord(letter) % 10) for letter in text)


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
