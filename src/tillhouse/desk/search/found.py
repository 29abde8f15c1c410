"""Everything that a search finds: pages, actions, and things of the book."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from tillhouse.desk.frame.places import ENTRIES, LIST_MEMBERS, Frame, entry_of
from tillhouse.desk.frame.sentences import SENTENCES, sentence
from tillhouse.desk.frame.words import money, named
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import Goal, PageRequest, PageRoute
from tillhouse.search.room import ROOM as SEARCH

FIND = Operation(SEARCH, "GET", "/v1/search")
_OF_EACH = 3
LENGTH_MIN, LENGTH_MAX = 2, 60
Data = Mapping[str, Any]


class Hit(msgspec.Struct, frozen=True):
    """One thing to go to."""

    icon: str
    name: str
    more: str
    address: str


class Place(msgspec.Struct, frozen=True):
    """A page or an action, and the further words that find it."""

    hit: Hit
    words: str

    def place_for(self, query: str) -> int | None:
        """How well it fits: 0 by its name, 1 by other words, None not at all."""
        if query in self.hit.name.casefold():
            return 0
        return 1 if f" {query}" in f" {self.words}" else None


class Kind(msgspec.Struct, frozen=True):
    """A kind of thing, and where the page of one is."""

    name: str
    icon: str
    path: str


KINDS = {
    "order": Kind("orders", "orders", "/desk/orders"),
    "customer": Kind("customers", "customers", "/desk/customers"),
    "product": Kind("products", "products", "/desk/products"),
    "payment_link": Kind("links", "link", "/desk/links"),
    "transaction": Kind("transactions", "finance", "/desk/finance/transactions"),
    "table": Kind("tables", "settings", "/desk/settings/tables"),
    "staff": Kind("people", "people", "/desk/people"),
}


class Findings(msgspec.Struct, frozen=True):
    """Everything that was found, by its kind, and the one thing that was named exactly."""

    groups: list[tuple[str, list[Hit]]]
    exact: str | None


Places = Callable[[PageRequest, Frame, str], list[tuple[str, list[Hit]]]]


def places_of(routes: Sequence[PageRoute]) -> Places:
    """Finds the pages and actions whose names have some words; all without words.

    They are the entries of the navigation, and what the routes say of themselves.
    """
    goals = [(route.path, route.goal) for route in routes if route.goal]

    def places(page: PageRequest, frame: Frame, query: str) -> list[tuple[str, list[Hit]]]:
        entries = [
            _place(
                f"nav.{one.name}",
                Hit(one.icon, sentence(f"nav.{one.name}"), f"g {one.letter}", one.address),
            )
            for one in frame.entries
        ]
        open_goals = [
            (goal.sort, _place(goal.name, _hit_of(path, goal)))
            for path, goal in goals
            if all(map(page.may, goal.operations))
        ]
        pages = [*entries, *(one for sort, one in open_goals if sort == "page")]
        actions = [one for sort, one in open_goals if sort == "action"]
        words = query.casefold()
        found = [(name, _fitting(ones, words)) for name, ones in
                 (("pages", pages), ("actions", actions))]  # fmt: skip
        return [(name, hits) for name, hits in found if hits]

    return places


def _place(name: str, hit: Hit) -> Place:
    return Place(hit, SENTENCES.get(f"also.{name}", ""))


def _fitting(places: Sequence[Place], query: str) -> list[Hit]:
    """Those that fit, by their names before those by other words."""
    by_fit = [(fit, one.hit) for one in places if (fit := one.place_for(query)) is not None]
    return [hit for _, hit in sorted(by_fit, key=lambda one: one[0])]


def _hit_of(path: str, goal: Goal) -> Hit:
    entry = entry_of(path)
    # A page below that of an entry says which one.
    above = sentence(f"nav.{entry.name}") if entry and entry.address != path else ""
    icon = "plus" if goal.sort == "action" else entry.icon if entry else ENTRIES[0].icon
    return Hit(goal.icon or icon, sentence(goal.name), goal.key or above, path)


async def things(page: PageRequest, frame: Frame, query: str) -> Findings:
    """Things that the role may read; one that has this id or code, by itself."""
    if not LENGTH_MIN <= len(query) <= LENGTH_MAX or not page.may(FIND):
        return Findings([], None)
    found = await page.needed(FIND, q=query, limit=_OF_EACH)
    # More roles read the names of people than open their pages.
    open_kinds = set(KINDS) if page.may(LIST_MEMBERS) else set(KINDS) - {"staff"}
    rows: list[Data] = [one for one in found.data if one["kind"] in open_kinds]
    order = list(KINDS)
    by_kind = sorted(rows, key=lambda one: order.index(one["kind"]))
    groups = [
        (KINDS[kind].name, [_hit(one, frame) for one in ones])
        for kind, ones in groupby(by_kind, key=lambda one: one["kind"])
    ]
    exact = [_hit(one, frame).address for one in rows if one["isExact"]]
    return Findings(groups, exact[0] if len(exact) == 1 else None)


def _hit(one: Data, frame: Frame) -> Hit:
    kind = KINDS[one["kind"]]
    name = named("transaction_type", one["name"]) if one["kind"] == "transaction" else one["name"]
    amount = money(one["amount"], frame.currency) if one["amount"] is not None else None
    # Of a person it is the role.
    said = named("role", one["more"]) if one["kind"] == "staff" else one["more"]
    more = ", ".join(part for part in (said, amount) if part)
    return Hit(kind.icon, name, more, f"{kind.path}/{one['id']}")
