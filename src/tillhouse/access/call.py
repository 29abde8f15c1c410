"""The call: all that a handler may know about a request and its caller."""

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from tillhouse.access.callers import Book, KeyCaller, SystemCaller, UserCaller
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, BusinessId, new_id

if TYPE_CHECKING:
    from tillhouse.access.process import Services


class IdempotencyClaim(msgspec.Struct, frozen=True):
    """The claim of one request on one idempotency key."""

    book_id: BookId
    surface: str
    key: str
    fingerprint: bytes
    # Whether the key's row is there already, and only its answer is missing.
    is_claimed: bool = False


class AnonymousCall(msgspec.Struct, kw_only=True):
    """A request without a caller: registration, login."""

    db: Db
    services: "Services"
    now: datetime
    request_id: str
    ip: str
    # Sentences for the caller beside the message of the route, in an answer of success.
    remarks: list[str] = msgspec.field(default_factory=list[str])

    def remark(self, sentence: str) -> None:
        """Tell the caller something more, once."""
        if sentence not in self.remarks:
            self.remarks.append(sentence)


class Call(AnonymousCall, kw_only=True):
    """A request of a known caller, in one book."""

    business_id: BusinessId
    book: Book
    caller: KeyCaller | UserCaller | SystemCaller
    # The idempotency key of this request, for rows that keep it longer than its answer.
    claim: IdempotencyClaim | None = None

    @property
    def user(self) -> UserCaller:
        """The person who calls; only routes behind a session ask."""
        assert isinstance(self.caller, UserCaller), "this route is behind a session"  # noqa: S101
        return self.caller

    @property
    def key(self) -> KeyCaller:
        """The key that calls; only routes that take nothing but keys ask."""
        assert isinstance(self.caller, KeyCaller), "this route takes API keys only"  # noqa: S101
        return self.caller


def system_call(services: "Services", db: Db, business_id: BusinessId, book: Book) -> Call:
    """A call of the system itself, in a book and in the transaction of a job."""
    return Call(
        db=db,
        services=services,
        now=now(),
        request_id=str(new_id()),
        ip="local",
        business_id=business_id,
        book=book,
        caller=SystemCaller(),
    )
