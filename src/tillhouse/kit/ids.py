"""Names for things: ordered ids for rows, random references, short codes; and other draws."""

import math
import os
import random
import secrets
import string
import struct
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple, NewType
from uuid import UUID

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase

CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Digits and capitals without look-alikes: no 0 and O, no 1, I and L, no U beside V."""

_COUNTER_BITS = 12
_COUNTER_MAX = 2**_COUNTER_BITS - 1
_RANDOM_BITS = 62
_WORD = struct.Struct(">Q")
# Asking the system costs as much as all the rest of an id, so it is asked for many at once.
_DRAWN_WORDS = 512

# Ids of different things have different types, so that no two can be swapped unnoticed.
AppId = NewType("AppId", UUID)
BookId = NewType("BookId", UUID)
BusinessId = NewType("BusinessId", UUID)
CategoryId = NewType("CategoryId", UUID)
ConversationId = NewType("ConversationId", UUID)
CustomerId = NewType("CustomerId", UUID)
DeliveryId = NewType("DeliveryId", UUID)
EndpointId = NewType("EndpointId", UUID)
EventId = NewType("EventId", UUID)
HoldId = NewType("HoldId", UUID)
KeyId = NewType("KeyId", UUID)
MessageId = NewType("MessageId", UUID)
NumberId = NewType("NumberId", UUID)
OrderId = NewType("OrderId", UUID)
ProductId = NewType("ProductId", UUID)
PromotionId = NewType("PromotionId", UUID)
StoreId = NewType("StoreId", UUID)
TableId = NewType("TableId", UUID)
TableSessionId = NewType("TableSessionId", UUID)
TagId = NewType("TagId", UUID)
TermId = NewType("TermId", UUID)
TicketId = NewType("TicketId", UUID)
TransferId = NewType("TransferId", UUID)
UserId = NewType("UserId", UUID)
VariantId = NewType("VariantId", UUID)
# For all draws that aren't ids: it can be neither seeded nor foreseen. The functions of `random`
# itself share a state that any thread moves and that a library may set.
CHANCE: random.Random = random.SystemRandom()


class BookKey(NamedTuple):
    """The primary key of a row of a book."""

    book_id: BookId
    id: UUID


class Sequence:
    """The time and the counter of one process's ids (RFC 9562, section 6.2, method 1)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._millisecond = 0
        self._counter = 0

    def next(self, millisecond: int) -> tuple[int, int]:
        """Return a millisecond, this one if it may be, and a counter: more than the last pair."""
        with self._lock:
            if millisecond > self._millisecond:
                self._millisecond = millisecond
                # The upper bit stays free: at least 2048 ids fit before the millisecond is full.
                self._counter = secrets.randbits(_COUNTER_BITS - 1)
            elif self._counter < _COUNTER_MAX:
                self._counter += 1
            else:
                # Full, or the clock went back: run ahead rather than out of order.
                self._millisecond += 1
                self._counter = secrets.randbits(_COUNTER_BITS - 1)
            return self._millisecond, self._counter


class Lots:
    """The random bits of one process's ids: no two threads draw the same."""

    def __init__(self) -> None:
        self._words: Iterator[tuple[int]] = iter(())

    def draw(self) -> int:
        """Return as many bits as an id takes."""
        for (word,) in self._words:
            return word >> 64 - _RANDOM_BITS
        self.forget()
        return self.draw()

    def forget(self) -> None:
        """Ask the system anew: a forked process must not draw the ids of its parent."""
        self._words = _WORD.iter_unpack(os.urandom(_DRAWN_WORDS * _WORD.size))


_SEQUENCE = Sequence()
_LOTS = Lots()
os.register_at_fork(after_in_child=_LOTS.forget)

# Below every id that a row has: walks in the order of ids begin after it.
LOWEST_ID = UUID(int=0)


def new_id() -> UUID:
    """Make a UUIDv7 that is greater than every earlier one of this process."""
    millisecond, counter = _SEQUENCE.next(time.time_ns() // 1_000_000)
    high = (millisecond & 0xFFFF_FFFF_FFFF) << 16 | 7 << 12 | counter
    return UUID(int=high << 64 | 0b10 << _RANDOM_BITS | _LOTS.draw())


def random_base62(bits: int) -> str:
    """Draw as many base62 characters as hold this many random bits."""
    return random_text(BASE62, math.ceil(bits / math.log2(len(BASE62))))


def public_reference(prefix: str, bits: int = 130) -> str:
    """Make an unguessable reference: the prefix as given, then base62."""
    return prefix + random_base62(bits)


def short_code(length: int = 8) -> str:
    """Make a code that a person can read out and type."""
    return random_text(CODE_ALPHABET, length)


def random_text(alphabet: str, length: int) -> str:
    """Draw this many characters from an alphabet."""
    # One draw for all of them: each costs a call of the system.
    drawn, size = secrets.randbelow(len(alphabet) ** length), len(alphabet)
    text = ""
    for _ in range(length):
        drawn, index = divmod(drawn, size)
        text += alphabet[index]
    return text
