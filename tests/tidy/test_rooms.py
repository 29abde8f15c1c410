"""Rooms: each says all that it brings, and the rooms below features know none of it."""

import re
import sys
from pkgutil import iter_modules

import tillhouse
from tests.tidy.tree import Source, python, texts, tidy
from tillhouse.app import PRODUCT
from tillhouse.db.migrate import load
from tillhouse.http.route import Scope
from tillhouse.kit.events import EventType
from tillhouse.webhooks.events import TEST_EVENT

# The rooms below all features: they get declarations as values.
GROUND = ("access", "db", "http", "jobs", "kit")
SCHEMA = "\n".join(step.sql for step in load())


def test_every_room_is_joined() -> None:
    """A package with a room that `app` doesn't name would be there in vain."""
    rooms = {source.path.split("/")[2] for source in python("src/tillhouse") if _is_face(source)}
    joined = {room.name for room in PRODUCT.rooms}
    packages = {found.name for found in iter_modules(tillhouse.__path__)}
    found = [f"{name} is not joined in app.py" for name in rooms - joined]
    found += [f"{name} has no room.py" for name in joined - rooms]
    assert joined <= packages
    tidy("Every package with a `room.py` is one of ROOMS in `app.py`, by its name.", found)


def _is_face(source: Source) -> bool:
    return source.name == "room" and source.path.count("/") == 3


def test_every_kind_of_event_is_declared() -> None:
    """An event outside the catalogue can't be subscribed to, so it must not be emitted."""
    declared = {*PRODUCT.declared.events, TEST_EVENT}
    made = {
        value: module.__name__
        for module in tuple(sys.modules.values())
        if module.__name__.startswith("tillhouse.")
        for value in vars(module).values()
        if isinstance(value, EventType)
    }
    assert len(made) >= len(PRODUCT.declared.events)
    tidy(
        "Every EventType is among the `events` of a room.",
        [f"{module}: {event.name}" for event, module in made.items() if event not in declared],
    )


def test_every_scope_that_a_route_asks_for_is_declared() -> None:
    """No key could have another one."""
    known = {scope.name for scope in PRODUCT.declared.scopes}
    tidy(
        "The scope of a route is among the `scopes` of a room.",
        [
            f"{route.method} {route.path}: {route.guard.name}"
            for route in PRODUCT.routes
            if isinstance(route.guard, Scope) and route.guard.name not in known
        ],
    )


def test_every_constraint_that_a_room_names_exists() -> None:
    """A refusal of a constraint that was renamed would never be read."""
    named = [
        (room.name, constraint)
        for room in PRODUCT.rooms
        for constraint in (*(one.constraint for one in room.refusals), *room.redrawn)
    ]
    assert named
    tidy(
        "A refusal names a constraint or a unique index of the schema.",
        [
            f"{room}: {constraint}"
            for room, constraint in named
            if not re.search(rf"(?:CONSTRAINT|INDEX) {constraint}\b", SCHEMA)
        ],
    )


def test_the_ground_knows_no_room() -> None:
    """No scope, event or constraint of a room is named below them."""
    words = {
        **{scope.name: "scope" for scope in PRODUCT.declared.scopes},
        **{event.name: "event" for event in PRODUCT.declared.events},
        **{one.constraint: "constraint" for room in PRODUCT.rooms for one in room.refusals},
    }
    tidy(
        "The rooms below features get declarations as values; they spell none of them.",
        [
            f"{source.at(node)} the {kind} {word}"
            for source in python(*(f"src/tillhouse/{name}" for name in GROUND))
            for node in texts(source.tree)
            for word, kind in words.items()
            if re.search(rf"(?<![\w:.]){re.escape(word)}(?![\w:.])", node.value)
        ],
    )
