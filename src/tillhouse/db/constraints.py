"""The database is the last judge: which refusal each constraint stands for.

A rule that two requests can break together is decided by a constraint, and the loser
must read the same sentence as if the rule had caught it. Each room says so for its tables.
"""

from collections.abc import Iterable

import asyncpg
import msgspec

from tillhouse.kit.errors import Conflict, Invalid, Problem, Refused

# The function `rollback_unless` ends a statement with it.
_ROLLED_BACK = "TH001"


class ConstraintRefusal(msgspec.Struct, frozen=True):
    """The answer to a request that violates one constraint."""

    constraint: str
    type: type[Problem]
    sentence: str
    # The field that is to blame, where one is.
    field: str | None = None
    # Whether the sentence has blanks in braces, which the error's DETAIL fills: a JSON object.
    has_blanks: bool = False

    def problem(self, code: str | None = None, detail: str | None = None) -> Problem:
        """The refusal, to be raised; one that blames no field by the code of the operation."""
        sentence = self.sentence
        if self.has_blanks and detail is not None:
            sentence = sentence.format_map(msgspec.json.decode(detail, type=dict[str, str]))
        if self.field is not None:
            return Invalid.field(self.field, sentence)
        if code is not None and self.type is Refused:
            return Refused(sentence, code=code)
        return self.type(sentence)


def wrong_field(constraint: str, field: str, sentence: str) -> ConstraintRefusal:
    """A field of the request is to blame."""
    return ConstraintRefusal(constraint, Invalid, sentence, field)


def taken(constraint: str, sentence: str) -> ConstraintRefusal:
    """A field that is right by itself collides with an existing row."""
    return ConstraintRefusal(constraint, Conflict, sentence)


def not_allowed(constraint: str, sentence: str, *, has_blanks: bool = False) -> ConstraintRefusal:
    """No field is to blame: a rule of the business says no."""
    return ConstraintRefusal(constraint, Refused, sentence, has_blanks=has_blanks)


class Constraints:
    """Which refusal each constraint of all rooms stands for."""

    def __init__(self, refusals: Iterable[ConstraintRefusal], redrawn: Iterable[str]) -> None:
        self._refusals = {refusal.constraint: refusal for refusal in refusals}
        self._redrawn = frozenset(redrawn)

    def is_chance(self, error: asyncpg.PostgresError) -> bool:
        """Whether two random draws were equal, so that the transaction should run again."""
        return getattr(error, "constraint_name", None) in self._redrawn

    def refusal(self, error: asyncpg.PostgresError, code: str | None = None) -> Problem | None:
        """The problem that a violated constraint stands for, None when it is ours to mend.

        `code` is the one of the operation, where its refusals have one of their own.
        """
        name = getattr(error, "constraint_name", None)
        return self.refusal_of(name or "", code, getattr(error, "detail", None))

    def refusal_of(
        self, constraint: str, code: str | None = None, detail: str | None = None
    ) -> Problem | None:
        """The same of a constraint that a write would violate, for a rule that foresees it."""
        refusal = self._refusals.get(constraint)
        return refusal.problem(code, detail) if refusal else None


def is_rolled_back(error: asyncpg.PostgresError) -> bool:
    """Whether a statement undid itself, on its caller's own condition."""
    return getattr(error, "sqlstate", None) == _ROLLED_BACK
