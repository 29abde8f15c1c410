"""The filters of a list as conditions on rows `o`: of orders, or of the tallies of their kinds."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from enum import IntEnum
from typing import LiteralString, NamedTuple

import msgspec

from tillhouse.db.where import Where
from tillhouse.orders.columns import DETAILS, KINDS, SUMS


class Reach(IntEnum):
    """How far a filter reaches: the narrowest rows that have its column."""

    TOTAL = 1
    """The totals, and every tally."""
    KIND = 2
    """Every tally."""
    DETAIL = 3
    """Tallies in detail."""
    ORDER = 4
    """Orders themselves."""


class Filter(NamedTuple):
    """A filter, by its name in the query (types.py): its condition on rows `o`."""

    name: str
    condition: LiteralString
    reach: Reach
    has_own_order: bool = False
    """Whether an index has just these rows, in the order of the list."""


FILTERS: tuple[Filter, ...] = (
    Filter("status", "o.status = ANY($)", Reach.TOTAL),
    Filter("payment_status", "o.payment_status = ANY($)", Reach.TOTAL),
    Filter("channel", "o.channel = ANY($)", Reach.KIND),
    Filter("service_mode", "o.service_mode = ANY($)", Reach.KIND),
    Filter("payment_method", "o.payment_methods & payment_method_bit($) <> 0", Reach.KIND),
    Filter("store_id", "o.store_id = $ OR o.store_id IS NULL", Reach.TOTAL),
    Filter("store_ids", "o.store_id = ANY($)", Reach.TOTAL),
    Filter("is_automated", "o.is_automated = $", Reach.KIND),
    Filter("channel_fulfilled", "o.is_fulfilled = $", Reach.KIND),
    Filter("recorded_by_id", "o.recorded_by_id = $", Reach.DETAIL, has_own_order=True),
    Filter("staff_id", "o.recorded_by_id = $ OR o.served_by_id = $", Reach.DETAIL),
    Filter("served_by_user_id", "o.served_by_id = $", Reach.DETAIL, has_own_order=True),
    Filter("academic_term_id", "o.academic_term_id = $", Reach.DETAIL, has_own_order=True),
    Filter("tag_ids", "o.tag_ids <> '{}' AND o.tag_ids && $", Reach.DETAIL),
    Filter("customer_id", "o.customer_id = $", Reach.ORDER),
    Filter("table_session_id", "o.table_session_id = $", Reach.ORDER),
    Filter("updated_since", "o.updated_at >= $", Reach.ORDER),
)


class OrderQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on orders."""

    # The values of the filters that are asked for, by their names.
    asked: Mapping[str, object] = {}
    # A search: how the short code begins, or the words of the customer's name begin. A search
    # without words finds no customer by them.
    code: str | None = None
    words: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def store_id(self) -> object | None:
        """The one store that is asked for."""
        return self.asked.get("store_id")

    @property
    def ever_changed(self) -> "OrderQuery":
        """The same, whenever the orders changed."""
        asked = {name: value for name, value in self.asked.items() if name != "updated_since"}
        return msgspec.structs.replace(self, asked=asked)

    @property
    def is_searched(self) -> bool:
        """Whether it is a search."""
        return self.code is not None

    def reaches(self, *reaches: Reach) -> bool:
        """Whether a filter is asked for that reaches just so far."""
        return any(one.reach in reaches for one in self._filters())

    @property
    def has_own_order(self) -> bool:
        """Whether an index has just these rows, in the order of the list."""
        filters = list(self._filters())
        return (
            not self.is_searched and len(filters) <= 1 and all(one.has_own_order for one in filters)
        )

    @property
    def is_dated(self) -> bool:
        """Whether only some time counts."""
        return self.since is not None or self.until is not None

    def _filters(self) -> Iterator[Filter]:
        return (one for one in FILTERS if one.name in self.asked)


def _and(where: Where, query: OrderQuery, *reaches: Reach) -> Where:
    for one in FILTERS:
        if one.reach in reaches:
            where = where.and_(one.condition, query.asked.get(one.name))
    return where


def and_kinds(where: Where, query: OrderQuery) -> Where:
    """Conditions that every tally knows."""
    return _and(where, query, Reach.TOTAL, Reach.KIND)


def and_details(where: Where, query: OrderQuery) -> Where:
    """The further columns of the tallies in detail."""
    return _and(where, query, Reach.DETAIL)


def and_picks(where: Where, query: OrderQuery) -> Where:
    """All conditions on orders themselves, but for a search and the dates."""
    return _and(where, query, *Reach)


def and_search(where: Where, query: OrderQuery) -> Where:
    """The condition of a search, where orders aren't looked up by it (`found`); it needs BUYERS."""
    return where.and_("o.customer_id IN (SELECT id FROM buyers) OR o.short_code ^@ $", query.code)


def and_dates(where: Where, query: OrderQuery) -> Where:
    """When it was sold."""
    return where.and_("o.occurred_at >= $", query.since).and_("o.occurred_at <= $", query.until)


ROWS: LiteralString = """
    SELECT r.*, r.channel_fulfilled_at IS NOT NULL AS is_fulfilled FROM orders r
    WHERE r.book_id = $1 AND r.deleted_at IS NULL
"""
"""Orders as rows on which all conditions hold."""

# $4 is the words of a name, $5 the beginning of a short code.
BUYERS: LiteralString = """
    buyers AS (
        SELECT c.id FROM customers c
        WHERE c.book_id = $1 AND customer_words(c.book_id, c.name) @@ customer_query($1, $4)
    )"""
"""Customers whom a search finds, deleted ones too: their orders show the name."""

# Values of an order that tallies have as columns.
_OF_ONE: dict[str, LiteralString] = {
    "is_fulfilled": "{0}.channel_fulfilled_at IS NOT NULL AS is_fulfilled",
    "orders": "1 AS orders",
}


def of_one(order: LiteralString, names: Iterable[LiteralString]) -> LiteralString:
    """The columns of tallies as an order has them, which is a row of this name."""
    return ", ".join(_OF_ONE.get(name, "{0}.{1}").format(order, name) for name in names)


_FOUND: LiteralString = " " + of_one(
    "o",
    (
        "id", "occurred_at", *KINDS, *DETAILS, "customer_id", "table_session_id", "short_code",
        "scheduled_at", *(name for name in SUMS if name != "orders"),
    ),
)  # fmt: skip
_BY_BUYER: LiteralString = (
    "SELECT * FROM (SELECT"
    + _FOUND
    # As an array, sorted: neighbours in the index are found without a search for each.
    + """
    FROM orders o
    WHERE o.book_id = $1 AND o.customer_id = ANY(ARRAY(SELECT id FROM buyers))
        AND o.deleted_at IS NULL"""
)
# First what is found, then what fits: there may be thousands of customers, and each would be asked
# for all orders with a tag.
_OR: LiteralString = (
    " OFFSET 0) f UNION ALL SELECT * FROM (SELECT"
    + _FOUND
    + """
    FROM orders o
    WHERE o.book_id = $1 AND o.deleted_at IS NULL
        AND (o.customer_id IN (SELECT id FROM buyers)) IS NOT TRUE AND """
)
_BY_CODE: LiteralString = "o.short_code >= $5 AND o.short_code < $5 || '~'"


def found(dated: LiteralString) -> LiteralString:
    """The orders that a search finds at these dates, each once: by customers, and by code."""
    return _BY_BUYER + dated + _OR + _BY_CODE + dated + " OFFSET 0) f"
