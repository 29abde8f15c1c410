"""Kinds of jobs: the work, how often it is tried, and the guarantees of its worker.

A room declares its kinds and gives them to the application, which lets workers run them:

- A `LocalKind` does its work with the database alone. It runs in the transaction that takes the
  job from the queue, so its effect happens exactly once.
- An `OutsideKind` asks somebody outside. It takes a lease and commits, asks, and records what
  came of it. A process that dies between leaves a lease that ends, and `begin` is called again:
  it decides whether to ask once more (at least once) or never (at most once).
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeAlias
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import CHANCE, BookId

# The book of jobs that belong to none: the chores of the installation.
INSTALLATION = UUID(int=0)
REASON_LENGTH_MAX = 500


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job that a worker holds."""

    book_id: BookId
    id: UUID
    kind: str
    # The row that it is about, and which job of several about it.
    subject_id: UUID
    key: str
    payload: bytes | None
    # How often it was begun or has failed before.
    attempts: int
    generation: int
    # Whether an earlier worker held it and never came back.
    is_lapsed: bool


class NewJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job to be queued; one of the same book, kind, subject and key is there once."""

    book_id: UUID
    kind: str
    subject_id: UUID
    key: str = ""
    payload: bytes | None = None


class Retry(msgspec.Struct, frozen=True, kw_only=True):
    """How often a job is tried, and how far apart."""

    attempts_max: int = 10
    base: timedelta = timedelta(seconds=10)
    factor: float = 2.0
    most: timedelta = timedelta(hours=1)
    # So much is added at random: jobs that failed together come back at different times.
    jitter: float = 0.1

    def delay(self, attempts: int) -> timedelta:
        """How long to wait after so many attempts."""
        times = self.factor ** min(attempts - 1, 60)
        wait_s = min(self.base.total_seconds() * times, self.most.total_seconds())
        return timedelta(seconds=wait_s * CHANCE.uniform(1.0, 1.0 + self.jitter))


class Again(msgspec.Struct, frozen=True):
    """The outside has not taken it: try again later, or give up after too many attempts."""

    reason: str


GiveUp: TypeAlias = Callable[[Db, Job, str], Awaitable[None]]


class LocalKind(msgspec.Struct, frozen=True, kw_only=True):
    """A job whose whole effect is one transaction."""

    name: str
    # Returns whether more of it is left: then it runs again at once.
    run: Callable[[Db, Job], Awaitable[bool]]
    retry: Retry = Retry()
    # Called in the transaction in which a job dies, with the reason.
    give_up: GiveUp | None = None
    # A periodic job is queued by itself, never dies, and runs once in so long.
    every: timedelta | None = None


class OutsideKind(msgspec.Struct, frozen=True, kw_only=True):
    """A job that asks somebody outside of the database."""

    name: str
    # In the transaction that takes the lease: the argument of `run`, or None when nothing is left.
    begin: Callable[[Db, Job], Awaitable[Any]]
    # Outside of any transaction; ends before the lease does.
    run: Callable[[Any], Awaitable[Any]]
    # In the transaction that ends the job or puts it back: (the results of `begin` and of `run`).
    record: Callable[[Db, Job, Any, Any], Awaitable[Again | None]]
    # Its lease ended and another worker has taken the job: by default the result is dropped.
    record_late: Callable[[Db, Job, Any, Any], Awaitable[None]] | None = None
    retry: Retry = Retry()
    give_up: GiveUp | None = None
    lease: timedelta = timedelta(seconds=60)
    # So many at once in one process, of which one book has at most half.
    at_once: int = 40


Kind: TypeAlias = LocalKind | OutsideKind
