"""The filters of a list as conditions on rows `o`: of transactions, or of their tallies."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, CustomerId, OrderId, StoreId

# So much of a reference says which one is meant: the common beginning of all finds nothing.
REFERENCE_MIN = 7
CODE_MIN = 3


class TransactionQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on transactions; an absent one (None) lets all pass."""

    type: list[str] | None = None
    status: list[str] | None = None
    method: list[str] | None = None
    store_id: StoreId | None = None
    since: datetime | None = None
    until: datetime | None = None
    customer_id: CustomerId | None = None
    order_id: OrderId | None = None
    payment_link_id: UUID | None = None
    # A search: how the reference or the order's short code begins, and the words of a name.
    code: str | None = None
    words: str | None = None

    @property
    def is_searched(self) -> bool:
        """Whether it is a search."""
        return self.code is not None

    @property
    def reference(self) -> str | None:
        """How the references begin that a search means."""
        return self.code if self.code and len(self.code) >= REFERENCE_MIN else None

    @property
    def short_code(self) -> str | None:
        """How the short codes of orders begin that a search means."""
        return self.code if self.code and len(self.code) >= CODE_MIN else None

    @property
    def is_picked(self) -> bool:
        """Whether few are picked out, by a column that no tally has."""
        named = (self.customer_id, self.order_id, self.payment_link_id)
        return self.is_searched or any(one is not None for one in named)

    @property
    def is_dated(self) -> bool:
        """Whether only some time counts."""
        return self.since is not None or self.until is not None


def and_kinds(where: Where, query: TransactionQuery) -> Where:
    """Conditions that every tally knows."""
    return (
        where.and_("o.type = ANY($)", query.type)
        .and_("o.status = ANY($)", query.status)
        .and_("o.method = ANY($)", query.method)
        .and_("o.store_id = $", query.store_id)
    )


def and_dates(where: Where, query: TransactionQuery) -> Where:
    """When it happened."""
    return where.and_("o.happened_at >= $", query.since).and_("o.happened_at <= $", query.until)


_PICKED: LiteralString = """
        SELECT t.id, t.customer_id, t.happened_at, t.type, t.status, t.method, t.store_id,
            t.is_told
        """
# $2 is the words of a name, $3 the beginning of a reference, $4 of a short code, $5 a customer, $6
# an order, $7 a payment link.
_IDS_OF_ORDER: LiteralString = """
    SELECT m.id FROM transactions m
    WHERE m.book_id = $1 AND m.source_id = $6 AND m.source_type = 'order'
    UNION
    SELECT m.id FROM virtual_accounts v
    JOIN payins p ON p.book_id = v.book_id AND p.virtual_account_id = v.id
    JOIN transactions m ON m.book_id = p.book_id AND m.source_id = p.id
        AND m.source_type = 'payin'
    WHERE v.book_id = $1 AND v.order_id = $6
    UNION
    SELECT m.id FROM disputes d
    JOIN transactions m ON m.book_id = d.book_id AND m.source_id = d.id
        AND m.source_type = 'dispute'
    WHERE d.book_id = $1 AND d.order_id = $6
"""
_IDS_OF_LINK: LiteralString = """
    SELECT p.transaction_id FROM payins p
    WHERE p.book_id = $1 AND p.target_type = 'payment_link' AND p.target_id = $7
        AND p.transaction_id IS NOT NULL
"""
_FOUND: LiteralString = (
    """
    WITH found AS ("""
    + _PICKED
    + """FROM transactions t
        WHERE t.book_id = $1 AND t.customer_id = ANY(ARRAY(
            SELECT c.id FROM customers c
            WHERE c.book_id = $1 AND customer_words(c.book_id, c.name) @@ customer_query($1, $2)))
        UNION"""
    + _PICKED
    + """FROM transactions t
        WHERE t.book_id = $1 AND t.reference >= $3 AND t.reference < $3 || '~'
        UNION"""
    + _PICKED
    + """FROM orders s
        JOIN transactions t ON t.book_id = s.book_id AND t.source_id = s.id
            AND t.source_type = 'order'
        WHERE s.book_id = $1 AND s.short_code >= $4 AND s.short_code < $4 || '~'
        UNION"""
    + _PICKED
    + """FROM orders s
        JOIN virtual_accounts v ON v.book_id = s.book_id AND v.order_id = s.id
        JOIN payins p ON p.book_id = v.book_id AND p.virtual_account_id = v.id
        JOIN transactions t ON t.book_id = p.book_id AND t.source_id = p.id
            AND t.source_type = 'payin'
        WHERE s.book_id = $1 AND s.short_code >= $4 AND s.short_code < $4 || '~'
        UNION"""
    + _PICKED
    + """FROM orders s
        JOIN disputes d ON d.book_id = s.book_id AND d.order_id = s.id
        JOIN transactions t ON t.book_id = d.book_id AND t.source_id = d.id
            AND t.source_type = 'dispute'
        WHERE s.book_id = $1 AND s.short_code >= $4 AND s.short_code < $4 || '~'
    ), picked AS (
        SELECT t.* FROM found t WHERE ($5::uuid IS NULL OR t.customer_id = $5)
            AND ($6::uuid IS NULL OR t.id IN ("""
    + _IDS_OF_ORDER
    + ")) AND ($7::uuid IS NULL OR t.id IN ("
    + _IDS_OF_LINK
    + """))
    )"""
)
_OF_CUSTOMER: LiteralString = """
    WITH picked AS (
        SELECT t.* FROM transactions t WHERE t.book_id = $1 AND t.customer_id = $5
            AND $2::text IS NULL AND $3::text IS NULL AND $4::text IS NULL AND $6::uuid IS NULL
            AND $7::uuid IS NULL
    )"""
_OF_ORDER: LiteralString = (
    """
    WITH picked AS (
        SELECT t.* FROM transactions t
        WHERE t.book_id = $1 AND ($5::uuid IS NULL OR t.customer_id = $5)
            AND $2::text IS NULL AND $3::text IS NULL AND $4::text IS NULL
            AND $7::uuid IS NULL AND t.id IN ("""
    + _IDS_OF_ORDER
    + "))"
)
_OF_LINK: LiteralString = (
    """
    WITH picked AS (
        SELECT t.* FROM transactions t
        WHERE t.book_id = $1 AND ($5::uuid IS NULL OR t.customer_id = $5)
            AND $2::text IS NULL AND $3::text IS NULL AND $4::text IS NULL AND t.id IN ("""
    + _IDS_OF_LINK
    + ") AND ($6::uuid IS NULL OR t.id IN ("
    + _IDS_OF_ORDER
    + ")))"
)


def picked(query: TransactionQuery) -> LiteralString:
    """The transactions of a search, a link, an order or a customer, as the CTE `picked`."""
    if query.is_searched:
        return _FOUND
    if query.payment_link_id is not None:
        return _OF_LINK
    return _OF_ORDER if query.order_id is not None else _OF_CUSTOMER


def fixed(book_id: BookId, query: TransactionQuery) -> Where:
    """The values that `picked` names."""
    return Where(
        book_id,
        query.words,
        query.reference,
        query.short_code,
        query.customer_id,
        query.order_id,
        query.payment_link_id,
    )
