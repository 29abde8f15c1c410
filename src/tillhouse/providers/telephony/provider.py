"""The Protocol of telephony providers: one attempt is dialled, its line tells the events.

A `Telephone` dials, a `CallLine` is one call under way. The line tells `Ringing`, `Answered` and
`LineEnded`, in this order, each at most once, and `LineEnded` always. A failure is a `LineEnded`,
never an exception of the iterator. After `Answered` the line has a `party`: a `Party`, which the
agent's runtime talks to by text, or `Audio`, which speech engines make into one.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, Protocol, TypeAlias, runtime_checkable
from uuid import UUID

import msgspec

ProviderName = Literal["simulator", "sip", "twilio"]
Capability = Literal[
    # `find_outcome` can tell the end of an attempt after a crash.
    "finds_outcomes",
    # The party of its lines is `Audio`, and needs speech engines.
    "audio",
    # It dials `sip:` addresses, not only numbers.
    "sip_addresses",
]
AnsweredBy = Literal["human", "machine", "unknown"]
EndedBy = Literal["agent", "customer", "provider", "system"]
Result = Literal[
    # It was answered, and one side hung up.
    "hung_up",
    # The callee wasn't reached.
    "busy",
    "no_answer",
    "declined",
    # It never rang, and never would.
    "invalid_destination",
    "unwanted",
    "trunk_auth",
    "forbidden",
    "codec",
    # It never rang, this time.
    "provider_unavailable",
    "network",
    # It was answered, and went wrong.
    "media_lost",
    # It was ended from here: `hang_up` before the answer, or `talk_within` is over.
    "cancelled",
    "max_duration",
]

FRAME = timedelta(milliseconds=20)
SAMPLES_PER_SECOND = 8_000
# PCM16, little-endian, mono: of 20 milliseconds.
FRAME_BYTES = 320
_WORD = re.compile(r"\S+")
_ALL = 0.999


class Clock(Protocol):
    """The time that a line goes by: the real one, or a virtual one in tests."""

    def now(self) -> datetime:
        """This moment: UTC, whole milliseconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so long."""
        ...


class AttemptRecorder(Protocol):
    """The recording of one attempt, left the agent and right the customer."""

    def write(self, agent: bytes, customer: bytes) -> None:
        """Add the sound of both sides in the same time, PCM16 mono; the shorter ends in silence."""
        ...


class NumberAccount(msgspec.Struct, frozen=True):
    """The settings of a number, its secrets unsealed, by the names that the provider defines."""

    settings: Mapping[str, str] = {}

    def __repr__(self) -> str:
        """Keep the secrets out of logs and tracebacks."""
        return "Account(…)"


class Dial(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to call somebody; its intent is committed before."""

    attempt_id: UUID
    # Which attempt of its call: 1, 2, …
    attempt: int
    # E.164, or a `sip:` address.
    to: str
    # E.164 of the business's number.
    from_number: str
    # Without an answer for so long the line ends with `no_answer`.
    ring_within: timedelta
    # So long after the answer the line ends with `max_duration`.
    talk_within: timedelta
    account: NumberAccount
    clock: Clock
    # The line writes both directions while it talks; None: nothing is recorded. It never closes it.
    recorder: AttemptRecorder | None = None
    # Where the provider may tell how the call goes; None: nowhere.
    callback_url: str | None = None


class Ringing(msgspec.Struct, frozen=True):
    """The other telephone rings."""

    # The provider's own name of this call, such as a Call-ID.
    provider_call_id: str | None = None


class Answered(msgspec.Struct, frozen=True):
    """Somebody, or a machine, has answered; the line has its party from now on."""

    answered_by: AnsweredBy = "unknown"
    provider_call_id: str | None = None


class LineEnded(msgspec.Struct, frozen=True, kw_only=True):
    """The line is over."""

    result: Result
    ended_by: EndedBy
    # For people, such as a reason phrase; never a secret.
    detail: str = ""
    sip_status: int | None = None
    # False where another attempt could ring a second time, or would be refused again, although
    # its result is one after which calls are tried again.
    may_retry: bool = True
    # The provider asks to wait so long before the next attempt.
    retry_after: timedelta | None = None


Happening: TypeAlias = Ringing | Answered | LineEnded


class Digit(msgspec.Struct, frozen=True):
    """A key of the telephone that was pressed: 0 to 9, * or #."""

    key: str


class Playing(Protocol):
    """Sound that was queued."""

    async def done(self) -> None:
        """Return once it was played, stopped, or the line is over."""
        ...

    def stop(self) -> None:
        """Drop the part that wasn't played yet: the customer talks (barge-in)."""
        ...

    @property
    def played(self) -> int:
        """The bytes of it that the other side was sent in time, and heard."""
        ...


@runtime_checkable
class Audio(Protocol):
    """The sound of a line in frames of 20 ms: PCM16, little-endian, mono, 8 kHz."""

    def play(self, pcm: bytes) -> Playing:
        """Queue sound of any length; the line sends it at its pace, and silence between."""
        ...

    def heard(self) -> AsyncIterator[bytes | Digit]:
        """Frames and keys as they come, from now until the line is over; one iterator at a time."""
        ...


class Expected(msgspec.Struct, frozen=True):
    """The answers that a question allows, for an engine that hears by a grammar."""

    # Each a whole answer in small letters; none: anything.
    phrases: tuple[str, ...] = ()
    # So many keys end the answer; 0: keys are not expected.
    digits_max: int = 0
    # Keys that are an answer each, also where none is expected.
    keys: str = ""


class PartyReply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question: a text, keys, nothing in time, or the line is over."""

    kind: Literal["text", "digits", "nothing", "gone"]
    text: str = ""
    # From when to when it was said.
    started_at: datetime
    ended_at: datetime
    # From 0 to 1, where the engine tells.
    confidence: float | None = None
    # It was said before the question had been asked, so that it agrees to nothing.
    is_early: bool = False


Manner = Literal[
    # It can't be cut, such as a disclosure.
    "whole",
    # A customer who talks is let finish; then it goes on where it was cut.
    "statement",
    # As a statement up to its asking part; an answer after that ends it.
    "question",
    # A customer who talks ends it, and is listened to.
    "open",
]


class HeardSentence(msgspec.Struct, frozen=True, kw_only=True):
    """Words that the other side has heard, and when; the rest of them was never played."""

    text: str
    started_at: datetime
    ended_at: datetime


@runtime_checkable
class Party(Protocol):
    """The other side of a line as the agent's runtime talks to it, by text."""

    async def say(
        self, text: str, sound: bytes | None = None, *, manner: Manner = "statement"
    ) -> Sequence[HeardSentence]:
        """Say it, or play its sound (PCM16, mono, 8 kHz); the words that were really heard.

        Words that were cut and said again stand there twice. It returns early when the line is
        over, and when a question has its answer.
        """
        ...

    async def listen(self, expected: Expected, within: timedelta) -> PartyReply:
        """Wait so long for an answer to the last question.

        Only what began after its asking part was heard counts, and after an `open` text, with
        `is_early`, what cut it before.
        """
        ...

    async def is_machine(self) -> bool:
        """Whether a machine answered, as far as its greeting tells; True once that is over."""
        ...

    async def overheard(self, within: timedelta) -> Sequence[PartyReply]:
        """Everything said or pressed that answered nothing, once; it is waited for so long."""
        ...


class CallLine(Protocol):
    """One call under way."""

    @property
    def party(self) -> Party | Audio | None:
        """The other side; there after `Answered`."""
        ...

    def events(self) -> AsyncIterator[Happening]:
        """Everything that happens, `LineEnded` last; to be read once."""
        ...

    async def hang_up(self) -> None:
        """End it: cancelled before the answer, hung up after it. Calling it twice does no harm.

        The events go on until `LineEnded`, which tells what came first: a line that was answered
        meanwhile tells `Answered` and then ends.
        """
        ...


@runtime_checkable
class TakesCallbacks(Protocol):
    """A telephone whose provider calls back."""

    def tell(self, attempt_id: UUID, told: bytes) -> None:
        """Hand on the body of a genuine callback; one that is no news changes nothing."""
        ...


@runtime_checkable
class Counting(Protocol):
    """A telephone that counts its events."""

    def counted(self) -> Mapping[str, int]:
        """The counts by kind, since it was made."""
        ...


class Telephone(Protocol):
    """A way to call people."""

    @property
    def name(self) -> ProviderName:
        """The provider of the numbers that call with it."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Its abilities."""
        ...

    async def dial(self, dial: Dial) -> CallLine:
        """Begin an attempt, which is dialled at most once."""
        ...

    async def find_outcome(self, dial: Dial) -> LineEnded | None:
        """The end of an attempt whose worker died; None: unknown."""
        ...

    async def close(self) -> None:
        """End all its calls, and free its resources: the process stops."""
        ...


class WrongSettings(Exception):
    """A setting that can't be used, and why; the text never holds a secret."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} {why}")
        self.name, self.why = name, why


def refuse_unknown(settings: Mapping[str, str], known: Sequence[str]) -> None:
    """Raise `WrongSettings` for a setting that the provider doesn't have."""
    for name in settings:
        if name not in known:
            raise WrongSettings(name, f"is no setting of this provider: it has {', '.join(known)}")


def words_until(text: str, part: float) -> str:
    """The whole words of a text of which this part, from 0 to 1, was said."""
    if part >= _ALL:
        return text
    heard = len(text) * part
    ends = [word.end() for word in _WORD.finditer(text) if word.end() <= heard]
    return text[: ends[-1]] if ends else ""
