"""The statements of a search: each kind by its indexes, no further than its shown rows.

A part whose kind isn't asked for reads nothing. Words that many customers have are not looked
through to the end: the first of them that the index gives are sorted. A query of mere punctuation
leaves only the book (`numnode`), which every row matches.
"""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BusinessId
from tillhouse.search.rules import Terms

# $1 is the book, $2 the kinds, $3 the most of each. Each part gives kind, id, name, more, amount,
# currency, whether it is exact, and the part's own order.
_SHOWN: LiteralString = """
    SELECT f.kind, f.id, f.name, f.more, f.amount, f.currency, f.is_exact
    FROM (
        SELECT e.*, row_number() OVER (PARTITION BY e.kind
            ORDER BY e.is_exact DESC, e.place, e.id DESC) AS number
        FROM ("""
_IN_ORDER: LiteralString = """
        ) e
    ) f
    WHERE f.number <= $3
    ORDER BY f.is_exact DESC, array_position($2::text[], f.kind), f.number
"""
_ORDER: LiteralString = """
    SELECT 'order' AS kind, o.id, coalesce(c.name, o.summary) AS name, o.short_code AS more,
        o.total_amount::numeric AS amount, o.currency, """
_ORDERS: LiteralString = """
    FROM orders o
    LEFT JOIN customers c ON c.book_id = o.book_id AND c.id = o.customer_id
    WHERE o.book_id = $1 AND o.deleted_at IS NULL AND 'order' = ANY($2) AND """
_CUSTOMER: LiteralString = """
    SELECT 'customer', c.id, c.name, coalesce(c.phone_number, c.email), NULL::numeric, NULL::text,
        """
_CUSTOMERS: LiteralString = """
    FROM customers c
    WHERE c.book_id = $1 AND c.deleted_at IS NULL AND 'customer' = ANY($2) AND """
_PRODUCT: LiteralString = """
    SELECT 'product', p.id, p.name, p.sku, NULL::numeric, NULL::text, """
_LINK: LiteralString = """
    SELECT 'payment_link', l.id, coalesce(l.title, l.description), l.reference, l.amount::numeric,
        l.currency, """
_TRANSACTION: LiteralString = """
    SELECT 'transaction', t.id, t.type::text, t.reference, t.amount::numeric, t.currency, """
_TABLE: LiteralString = """
    SELECT 'table', d.id, d.label, d.area, NULL::numeric, NULL::text, """
_STAFF: LiteralString = """
    SELECT 'staff', u.id, u.name, m.role, NULL::numeric, NULL::text, """

# $4 is how a name begins, $5 the words, $6 a code, $7 a reference, $8 the reference of a link, $9 a
# phone number, $10 an e-mail address, $11 the business.
_BY_TERMS: LiteralString = (
    """
    WITH worded AS MATERIALIZED (
        SELECT c.id, c.name, c.deleted_at FROM customers c
        WHERE c.book_id = $1 AND $2 && '{order,customer}'::text[]
            AND customer_words(c.book_id, c.name) @@ customer_query($1, $5)
            AND numnode(customer_query($1, $5)) > 1
    ), customers_found AS MATERIALIZED (
        SELECT c.id, c.name, true AS begins FROM (
            SELECT s.id, s.name FROM customers s
            WHERE s.book_id = $1 AND s.deleted_at IS NULL AND $2 && '{order,customer}'::text[]
                AND lower(s.name) ~>=~ lower($4) AND lower(s.name) ~<~ (lower($4) || chr(1114111))
            ORDER BY lower(s.name) USING ~<~, s.id LIMIT $3
        ) c
        UNION ALL
        SELECT w.id, w.name, false FROM (
            SELECT * FROM worded LIMIT 100
        ) w WHERE w.deleted_at IS NULL
    )"""
    + _SHOWN
    + "("
    + _ORDER
    + "o.short_code = $6 AS is_exact, '0' || o.short_code AS place"
    + _ORDERS
    + "o.short_code >= $6 AND o.short_code < $6 || '~' ORDER BY o.short_code LIMIT $3)"
    + " UNION (SELECT * FROM ("
    + _ORDER
    + """false AS is_exact, '1' || to_char(
            1e13 - 1000 * extract(epoch FROM o.occurred_at), '0000000000000')
    FROM (
        SELECT n.id, b.id AS customer_id FROM (SELECT DISTINCT f.id FROM customers_found f) b
        CROSS JOIN LATERAL (
            SELECT r.id, r.occurred_at FROM orders r
            WHERE r.book_id = $1 AND r.customer_id = b.id AND r.deleted_at IS NULL
            ORDER BY r.occurred_at DESC, r.id DESC LIMIT $3
        ) n
        WHERE 'order' = ANY($2) ORDER BY n.occurred_at DESC, n.id DESC LIMIT $3
    ) n
    JOIN orders o ON o.book_id = $1 AND o.id = n.id
    JOIN customers c ON c.book_id = $1 AND c.id = n.customer_id) s)
    UNION ALL ("""
    + _CUSTOMER
    + "true, ''"
    + _CUSTOMERS
    + """(c.phone_number = $9 OR c.whatsapp_number = $9 OR lower(c.email) = $10)
    ORDER BY c.id LIMIT $3)
    UNION ALL (SELECT DISTINCT ON (g.place, g.id) * FROM ("""
    + _CUSTOMER
    + """false AS is_exact, CASE WHEN f.begins THEN '0' ELSE '1' END || lower(c.name) AS place
    FROM customers_found f JOIN customers c ON c.book_id = $1 AND c.id = f.id
    WHERE 'customer' = ANY($2) AND (f.begins OR NOT EXISTS (
        SELECT FROM customers_found b WHERE b.begins AND b.id = f.id))
    ) g ORDER BY g.place, g.id LIMIT $3)
    UNION ALL ("""
    + _PRODUCT
    + """f.is_exact, lower(p.name)
    FROM (
        SELECT h.id, bool_or(h.is_exact) AS is_exact FROM (
            (SELECT s.id, false AS is_exact FROM products s
            WHERE s.book_id = $1 AND s.deleted_at IS NULL AND 'product' = ANY($2)
                AND lower(s.name) ~>=~ lower($4) AND lower(s.name) ~<~ (lower($4) || chr(1114111))
            ORDER BY lower(s.name) USING ~<~, s.id LIMIT $3)
            UNION ALL
            (SELECT s.id, lower(s.sku) = lower($4) FROM products s
            WHERE s.book_id = $1 AND s.deleted_at IS NULL AND 'product' = ANY($2)
                AND lower(s.sku) ~>=~ lower($4) AND lower(s.sku) ~<~ (lower($4) || chr(1114111))
            ORDER BY lower(s.sku) USING ~<~ LIMIT $3)
            UNION ALL
            (SELECT s.product_id, lower(s.sku) = lower($4) FROM variants s
            WHERE s.book_id = $1 AND s.deleted_at IS NULL AND 'product' = ANY($2)
                AND lower(s.sku) ~>=~ lower($4) AND lower(s.sku) ~<~ (lower($4) || chr(1114111))
            ORDER BY lower(s.sku) USING ~<~ LIMIT $3)
        ) h GROUP BY h.id
    ) f
    JOIN products p ON p.book_id = $1 AND p.id = f.id AND p.deleted_at IS NULL
    ORDER BY f.is_exact DESC, lower(p.name), p.id LIMIT $3)
    UNION ALL ("""
    + _LINK
    + """true, '' FROM payment_links l
    WHERE l.book_id = $1 AND 'payment_link' = ANY($2) AND l.reference = $8)
    UNION ALL (SELECT * FROM ("""
    + _LINK
    + """false, to_char(
        1e13 - 1000 * extract(epoch FROM l.created_at), '0000000000000') AS place
    FROM (SELECT * FROM (
        SELECT s.* FROM payment_links s
        WHERE s.book_id = $1 AND 'payment_link' = ANY($2) AND s.reference IS DISTINCT FROM $8
            AND customer_words(s.book_id, coalesce(s.customer_name, '') || ' '
                || coalesce(s.title, '') || ' ' || s.description) @@ customer_query($1, $5)
            AND numnode(customer_query($1, $5)) > 1
        OFFSET 0) s LIMIT 200
    ) l) s ORDER BY s.place LIMIT $3)
    UNION ALL ("""
    + _TRANSACTION
    + """t.reference = $7, t.reference FROM transactions t
    WHERE t.book_id = $1 AND 'transaction' = ANY($2) AND t.is_told
        AND t.reference >= $7 AND t.reference < $7 || '~' ORDER BY t.reference LIMIT $3)
    UNION ALL ("""
    + _TABLE
    + """lower(d.label) = lower($4), lower(d.label) FROM dining_tables d
    WHERE d.book_id = $1 AND 'table' = ANY($2) AND d.deleted_at IS NULL
        AND starts_with(lower(d.label), lower($4)) ORDER BY lower(d.label) LIMIT $3)
    UNION ALL ("""
    + _STAFF
    + """coalesce(lower(u.email) = $10, false), lower(u.name)
    FROM members m JOIN users u ON u.id = m.user_id
    WHERE m.business_id = $11 AND 'staff' = ANY($2)
        AND (starts_with(lower(u.name), lower($4)) OR lower(u.email) = $10
            OR position(' ' || lower($4) IN lower(u.name)) > 0)
    ORDER BY lower(u.name), u.id LIMIT $3)
    """
    + _IN_ORDER
)
# $4 is the id, $5 the business.
_BY_ID: LiteralString = (
    _SHOWN
    + _ORDER
    + "true AS is_exact, '' AS place"
    + _ORDERS
    + "o.id = $4 UNION ALL"
    + _CUSTOMER
    + "true, ''"
    + _CUSTOMERS
    + "c.id = $4 UNION ALL"
    + _PRODUCT
    + """true, '' FROM products p
    WHERE p.book_id = $1 AND p.id = $4 AND p.deleted_at IS NULL AND 'product' = ANY($2)
    UNION ALL"""
    + _LINK
    + """true, '' FROM payment_links l
    WHERE l.book_id = $1 AND l.id = $4 AND 'payment_link' = ANY($2)
    UNION ALL"""
    + _TRANSACTION
    + """true, '' FROM transactions t
    WHERE t.book_id = $1 AND t.id = $4 AND t.is_told AND 'transaction' = ANY($2)
    UNION ALL"""
    + _TABLE
    + """true, '' FROM dining_tables d
    WHERE d.book_id = $1 AND d.id = $4 AND d.deleted_at IS NULL AND 'table' = ANY($2)
    UNION ALL"""
    + _STAFF
    + """true, '' FROM members m JOIN users u ON u.id = m.user_id
    WHERE m.business_id = $5 AND m.user_id = $4 AND 'staff' = ANY($2)"""
    + _IN_ORDER
)


async def find_by_terms(
    db: Db, book_id: BookId, business_id: BusinessId, kinds: list[str], terms: Terms, most: int
) -> Sequence[Record]:
    """The things that a text may mean: at most so many of each kind, exact ones first."""
    return await db.fetch(
        _BY_TERMS, book_id, kinds, most, terms.text, terms.words, terms.code, terms.reference,
        terms.link, terms.phone, terms.email, business_id,
    )  # fmt: skip


async def find_by_id(
    db: Db, book_id: BookId, business_id: BusinessId, kinds: list[str], id_: UUID
) -> Sequence[Record]:
    """The thing that has this id."""
    return await db.fetch(_BY_ID, book_id, kinds, 1, id_, business_id)
