"""The face of a room: all that a feature brings along, as one value that `app` joins with others.

Nothing is registered by importing it, and the rooms below know no feature: they get declarations.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TypeVar
from uuid import UUID

import msgspec

from tillhouse.access.declared import Declared
from tillhouse.access.process import Services
from tillhouse.access.scopes import Scope, Scopes, scopes_by_role
from tillhouse.access.usage import StoredKind
from tillhouse.db.constraints import ConstraintRefusal, Constraints
from tillhouse.db.folding import Folding
from tillhouse.db.pool import Db
from tillhouse.http.raw import RawRoute
from tillhouse.http.route import Group, Route
from tillhouse.jobs.kinds import Kind, LocalKind
from tillhouse.jobs.worker import Runs
from tillhouse.kit.events import EventType
from tillhouse.kit.fault import Fault

Grouped = TypeVar("Grouped", EventType, Scope)

# Made anew in each process that works.
MakesWorker = Callable[[Services], Awaitable[Runs]]
# Done by any process, perhaps by several at once: it does no harm to do it again.
Chore = Callable[[Services, datetime], Awaitable[None]]

# Those of the ids in a book that the room has a row of, deleted ones too.
FindThere = Callable[[Db, UUID, Sequence[UUID]], Awaitable[set[UUID]]]
# Every way in which a book's rows of the room and the ledger disagree, by batches.
ProveOwn = Callable[[Db, UUID, int], AsyncIterator[Fault]]


class SourceType(msgspec.Struct, frozen=True):
    """A type of source of money, as the room that posts for it declares it."""

    name: str
    find_there: FindThere
    prove: ProveOwn


_NOTHING: Mapping[str, str] = MappingProxyType({})


def _none(_services: Services) -> Sequence[LocalKind]:
    return ()


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """One feature, as the rest of the product sees it."""

    # The name of its package.
    name: str
    # Operations of the API.
    routes: tuple[Route, ...] = ()
    # How the documentation groups its operations; without a group the path names one.
    groups: tuple[Group, ...] = ()
    # Pages for people and hooks for providers, made once per application.
    pages: Callable[[], Sequence[RawRoute]] = tuple
    # The types of event that it emits to endpoints and streams.
    events: tuple[EventType, ...] = ()
    # The rights of keys and roles that its operations ask for.
    scopes: tuple[Scope, ...] = ()
    # The tables that it alone writes and whose rows stay: facts of a business, or a bounded number
    # of rows for each such fact.
    kept_tables: tuple[str, ...] = ()
    # Those whose rows outlive their use, each with the chore or the worker that deletes them.
    swept_tables: Mapping[str, str] = _NOTHING
    # The answers to requests that violate constraints of its tables.
    refusals: tuple[ConstraintRefusal, ...] = ()
    # Constraints that keep random names apart: two equal draws are no caller's mistake.
    redrawn: tuple[str, ...] = ()
    # Done at each start, before the first request.
    at_start: tuple[Chore, ...] = ()
    # Periodic jobs, run by any process, whether it has workers or not.
    chores: Callable[[Services], Sequence[LocalKind]] = _none
    # Changes that are folded into its tallies, by any process with workers.
    foldings: tuple[Folding, ...] = ()
    workers: tuple[MakesWorker, ...] = ()
    # Workers that `serve` runs in a process of their own, because they would hold up requests.
    apart: tuple[MakesWorker, ...] = ()
    # The kinds of job that its workers run.
    jobs: Callable[[Services], Sequence[Kind]] = _none
    # Things of which a book may hold so much; its chores count them.
    stored: tuple[StoredKind, ...] = ()
    # Types of its own for which it posts to the ledger.
    sources: tuple[SourceType, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it alone writes."""
        return (*self.kept_tables, *self.swept_tables)


class Composition(msgspec.Struct, frozen=True):
    """The declarations of all rooms, joined in the order in which `app` names them."""

    rooms: tuple[Room, ...]
    declared: Declared

    @property
    def routes(self) -> tuple[Route, ...]:
        """Every operation of the API."""
        return tuple(route for room in self.rooms for route in room.routes)

    @property
    def sources(self) -> tuple[SourceType, ...]:
        """Every type of source that a room posts for."""
        return tuple(source for room in self.rooms for source in room.sources)

    def group_of(self, path: str) -> Group:
        """The group of an operation: the one with the longest beginning of its path."""
        groups = [group for room in self.rooms for group in room.groups]
        fitting = [group for group in groups if path.startswith(group.prefix)]
        if fitting:
            return max(fitting, key=lambda group: len(group.prefix))
        name = path.split("/")[2].replace("-", " ").capitalize()
        return Group(path, name, f"{name}.")

    def pages(self) -> list[RawRoute]:
        """Every page and hook, made for one application."""
        return [page for room in self.rooms for page in room.pages()]


def join(
    rooms: Iterable[Room], *, event_groups: Sequence[str] = (), scope_groups: Sequence[str] = ()
) -> Composition:
    """The rooms as one product; each declaration is of one room alone.

    Groups are shown in the order given, then those that it doesn't name, as the rooms come.
    """
    joined = tuple(rooms)
    events = _grouped((event for room in joined for event in room.events), event_groups)
    scopes = _grouped((scope for room in joined for scope in room.scopes), scope_groups)
    refusals = [refusal for room in joined for refusal in room.refusals]
    redrawn = [constraint for room in joined for constraint in room.redrawn]
    _check_once("room", (room.name for room in joined))
    _check_once("table", (table for room in joined for table in room.tables))
    _check_once("source", (source.name for room in joined for source in room.sources))
    _check_once("event", (event.name for event in events))
    _check_once("scope", (scope.name for scope in scopes))
    _check_once("constraint", (*(refusal.constraint for refusal in refusals), *redrawn))
    return Composition(joined, _declared(events, Scopes(scopes), Constraints(refusals, redrawn)))


def _declared(events: tuple[EventType, ...], scopes: Scopes, constraints: Constraints) -> Declared:
    return Declared(
        events=events,
        scopes=scopes,
        roles=scopes_by_role(scopes),
        constraints=constraints,
        lists={
            "events": tuple(event.name for event in events),
            "scopes": tuple(sorted(scope.name for scope in scopes)),
        },
    )


def _grouped(declared: Iterable[Grouped], groups: Sequence[str]) -> tuple[Grouped, ...]:
    """The same, by the place of the group that each belongs to."""
    indices = {group: index for index, group in enumerate(groups)}
    return tuple(sorted(declared, key=lambda one: indices.get(one.group, len(indices))))


def _check_once(noun: str, names: Iterable[str]) -> None:
    """Refuse a name that two rooms claim: which of them would be meant?"""
    known: set[str] = set()
    for name in names:
        if name in known:
            raise ValueError(f"two rooms declare the {noun} {name}")
        known.add(name)
