"""The filters of a list as conditions on rows `o`: of orders, or of the tallies of their kinds."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.where import Where
from tillhouse.kit.ids import CustomerId, StoreId, TermId


class OrderQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on orders; an absent one (None) lets all pass."""

    status: list[str] | None = None
    payment_status: list[str] | None = None
    channel: list[str] | None = None
    service_mode: list[str] | None = None
    payment_method: str | None = None
    store_id: StoreId | None = None
    store_ids: list[UUID] | None = None
    is_automated: bool | None = None
    is_fulfilled: bool | None = None
    recorded_by_id: UUID | None = None
    staff_id: UUID | None = None
    served_by_id: UUID | None = None
    term_id: TermId | None = None
    tag_ids: list[UUID] | None = None
    customer_id: CustomerId | None = None
    session_id: UUID | None = None
    # A search: how the short code begins, or the words of the customer's name begin. A search
    # without words finds nobody by them.
    code: str | None = None
    words: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_searched(self) -> bool:
        """Whether it is a search."""
        return self.code is not None

    @property
    def filters_by_customer_or_session(self) -> bool:
        """Whether something is asked that no tally knows, but for a search."""
        return self.customer_id is not None or self.session_id is not None

    @property
    def is_detailed(self) -> bool:
        """Whether something is asked that only the tallies in detail know."""
        return any(
            one is not None
            for one in (
                self.recorded_by_id, self.staff_id, self.served_by_id, self.term_id, self.tag_ids,
            )
        )  # fmt: skip

    @property
    def is_of_kinds(self) -> bool:
        """Whether something is asked that every tally knows."""
        return any(
            one is not None
            for one in (
                self.status, self.payment_status, self.channel, self.service_mode,
                self.payment_method, self.store_id, self.store_ids, self.is_automated,
                self.is_fulfilled,
            )
        )  # fmt: skip

    @property
    def has_own_order(self) -> bool:
        """Whether an index has just what is asked, in the order of the list."""
        people = (self.recorded_by_id, self.served_by_id, self.term_id)
        others = (self.staff_id, self.tag_ids, self.code, self.customer_id, self.session_id)
        return (
            not self.is_of_kinds
            and others == (None,) * len(others)
            and len([one for one in people if one is not None]) <= 1
        )

    @property
    def is_dated(self) -> bool:
        """Whether only some time counts."""
        return self.since is not None or self.until is not None


def and_kinds(where: Where, query: OrderQuery) -> Where:
    """Conditions that every tally knows."""
    return (
        where.and_("o.status = ANY($)", query.status)
        .and_("o.payment_status = ANY($)", query.payment_status)
        .and_("o.channel = ANY($)", query.channel)
        .and_("o.service_mode = ANY($)", query.service_mode)
        .and_("o.payment_methods & payment_method_bit($) <> 0", query.payment_method)
        .and_("o.store_id = $ OR o.store_id IS NULL", query.store_id)
        .and_("o.store_id = ANY($)", query.store_ids)
        .and_("o.is_automated = $", query.is_automated)
        .and_("o.is_fulfilled = $", query.is_fulfilled)
    )


def and_details(where: Where, query: OrderQuery) -> Where:
    """The further columns of the tallies in detail."""
    return (
        where.and_("o.recorded_by_id = $", query.recorded_by_id)
        .and_("o.recorded_by_id = $ OR o.served_by_id = $", query.staff_id)
        .and_("o.served_by_id = $", query.served_by_id)
        .and_("o.academic_term_id = $", query.term_id)
        .and_("o.tag_ids <> '{}' AND o.tag_ids && $", query.tag_ids)
    )


def and_picks(where: Where, query: OrderQuery) -> Where:
    """All conditions on orders themselves, but for a search and the dates."""
    return (
        and_details(and_kinds(where, query), query)
        .and_("o.customer_id = $", query.customer_id)
        .and_("o.table_session_id = $", query.session_id)
    )


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

_FOUND: LiteralString = """
        o.id, o.occurred_at, o.status, o.payment_status, o.channel, o.payment_methods,
        o.service_mode, o.store_id, o.is_automated,
        o.channel_fulfilled_at IS NOT NULL AS is_fulfilled, o.recorded_by_id, o.served_by_id,
        o.academic_term_id, o.tag_ids, o.customer_id, o.table_session_id, o.short_code,
        o.scheduled_at, o.total_amount, o.remaining_amount, o.paid_by_cash, o.paid_by_transfer,
        o.paid_by_pos, o.paid_by_cloove_pay, o.paid_by_credit, o.paid_by_other
"""
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
