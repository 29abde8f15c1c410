"""The answers of Twilio's REST API: calls, lists of them, and refusals."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, TypeAlias, get_args

import msgspec

Status: TypeAlias = Literal[
    "queued", "initiated", "ringing", "in-progress",
    "completed", "busy", "no-answer", "canceled", "failed",
]  # fmt: skip
STATUSES: frozenset[str] = frozenset(get_args(Status))
FINAL: frozenset[Status] = frozenset({"completed", "busy", "no-answer", "canceled", "failed"})
_RANKS: dict[Status, int] = {"queued": 0, "initiated": 0, "ringing": 1, "in-progress": 2}
_RANK_OF_FINAL = 3


def rank(status: Status) -> int:
    """How far a call has come; it never goes back."""
    return _RANKS.get(status, _RANK_OF_FINAL)


class SeenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call as Twilio knows it."""

    sid: str
    status: Status
    date_created: str | None = None
    answered_by: str | None = None

    @property
    def created_at(self) -> datetime | None:
        """The moment when it was created; a new call may not have it yet."""
        try:
            told = parsedate_to_datetime(self.date_created or "")
        except ValueError:
            return None
        return told if told.tzinfo is not None else told.replace(tzinfo=UTC)


class CallPage(msgspec.Struct, frozen=True):
    """A page of calls, the newest first."""

    calls: list[SeenCall]


class TwilioRefusal(msgspec.Struct, frozen=True):
    """A refusal in Twilio's own words."""

    code: int
    message: str = ""
