"""The statement that moves stock: the one home of its text, which other statements contain."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.kit.json import encode
from tillhouse.stock.facts import LevelKey, MovedStock, NotedStockMove

# Of a move `h` and the level `l` that it would change: whether there is enough, or may be less.
_MAY_MOVE: LiteralString = """(h.allows
            OR h.on_hand_change >= h.reserved_change
            OR l.on_hand + h.on_hand_change - l.reserved - h.reserved_change >= 0)"""

_WANTED: LiteralString = """
    wanted AS (
        SELECT variant_id, store_id, sum(on_hand_change) AS on_hand_change,
            sum(reserved_change) AS reserved_change, bool_and(allows) AS allows
        FROM moving
        GROUP BY variant_id, store_id
    )"""

# Reads the CTE `moving` of the statement around it, with the columns (id uuid, variant_id uuid,
# store_id uuid, kind text, on_hand_change numeric, reserved_change numeric, order_id uuid,
# order_item_id uuid, round int, reason text, actor jsonb, allows boolean), and $1 = book_id and
# $2 = now. Two statements that move the same places lock them in the same order, by id, so that
# neither waits for the other for ever. The guard is asked of the row as it is once the lock is
# there, so what one sale took the next one knows of. A level that is not `levelled` was not
# available: the caller's statement looks at `is_moved` of MOVED, and rolls back unless all are.
MOVE: LiteralString = (
    _WANTED
    + """, held AS MATERIALIZED (
        SELECT l.id, l.variant_id, l.store_id, l.on_hand, l.reserved, w.on_hand_change,
            w.reserved_change, w.allows
        FROM wanted w
        JOIN stock_levels l ON l.book_id = $1 AND l.variant_id = w.variant_id
            AND l.store_id IS NOT DISTINCT FROM w.store_id
        ORDER BY l.id
        FOR NO KEY UPDATE OF l
    ), levelled AS (
        UPDATE stock_levels l SET on_hand = l.on_hand + h.on_hand_change,
            reserved = l.reserved + h.reserved_change, updated_at = $2
        FROM held h
        WHERE l.book_id = $1 AND l.id = h.id AND """
    + _MAY_MOVE
    + """
        RETURNING l.id, l.variant_id, l.store_id, l.on_hand, l.reserved, h.on_hand_change,
            h.reserved_change
    ), noted AS (
        INSERT INTO stock_moves (book_id, id, variant_id, store_id, kind, on_hand_change,
            reserved_change, order_id, order_item_id, round, reason, actor, created_at)
        SELECT $1, id, variant_id, store_id, kind, on_hand_change, reserved_change, order_id,
            order_item_id, round, reason, actor, $2
        FROM moving
    )
"""
)

# The results, a row per variant and store that was to be moved: the fields of `MovedStock`. To
# stand behind MOVE as the query itself, or in brackets within it.
MOVED: LiteralString = """
    SELECT w.variant_id, v.product_id, w.store_id, w.on_hand_change, w.reserved_change,
        coalesce(l.on_hand, h.on_hand, 0) AS on_hand,
        coalesce(l.reserved, h.reserved, 0) AS reserved,
        v.low_stock_threshold AS threshold, l.id IS NOT NULL AS is_moved
    FROM wanted w
    -- One by one: a join would read all variants of a small book for a handful.
    CROSS JOIN LATERAL (SELECT v.product_id, v.low_stock_threshold FROM variants v
        WHERE v.book_id = $1 AND v.id = w.variant_id LIMIT 1) v
    LEFT JOIN held h
        ON h.variant_id = w.variant_id AND h.store_id IS NOT DISTINCT FROM w.store_id
    LEFT JOIN levelled l ON l.id = h.id
"""

# Of a row `m` of MOVED: whether it was moved, and no threshold was crossed by it (`crossings` of
# the rules), so that there is nothing to say of it.
NO_THRESHOLD_CROSSED: LiteralString = """
    m.is_moved
        AND (m.threshold IS NULL OR m.on_hand - m.reserved > m.threshold
            OR m.on_hand - m.reserved - m.on_hand_change + m.reserved_change <= m.threshold)
        AND (m.on_hand - m.reserved > 0
            OR m.on_hand - m.reserved - m.on_hand_change + m.reserved_change <= 0)
"""


async def record_moves(
    db: Db, book_id: BookId, now: datetime, moves: list[NotedStockMove]
) -> list[MovedStock]:
    """Move stock and note why; the levels afterwards, by variant and place."""
    rows = await db.fetch(
        """
        WITH moving AS (
            SELECT * FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::numeric[],
                $8::numeric[], $9::uuid[], $10::uuid[], $11::int[], $12::text[], $13::jsonb[],
                $14::boolean[])
            AS m (id, variant_id, store_id, kind, on_hand_change, reserved_change, order_id,
                order_item_id, round, reason, actor, allows)
        ),
        """
        + MOVE
        + MOVED,
        book_id,
        now,
        [move.id for move in moves],
        [move.variant_id for move in moves],
        [move.store_id for move in moves],
        [move.kind for move in moves],
        [move.on_hand_change for move in moves],
        [move.reserved_change for move in moves],
        [move.order_id for move in moves],
        [move.order_item_id for move in moves],
        [move.round for move in moves],
        [move.reason for move in moves],
        [None if move.actor is None else encode(move.actor).decode() for move in moves],
        [move.allows for move in moves],
    )
    return [MovedStock(**row) for row in rows]


async def find_results(
    db: Db, book_id: BookId, moves: Sequence[NotedStockMove]
) -> list[MovedStock]:
    """The results that moves would have now; nothing is moved, and no level is locked."""
    rows = await db.fetch(
        """
        WITH moving AS (
            SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::numeric[], $5::numeric[],
                $6::boolean[])
            AS m (variant_id, store_id, on_hand_change, reserved_change, allows)
        ),
        """
        + _WANTED
        + """
        SELECT h.variant_id, v.product_id, h.store_id, h.on_hand_change, h.reserved_change,
            l.on_hand, l.reserved, v.low_stock_threshold AS threshold, """
        + _MAY_MOVE
        + """ AS is_moved
        FROM wanted h
        JOIN variants v ON v.book_id = $1 AND v.id = h.variant_id
        -- Where there is no level, one is opened at zero before something is moved.
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(s.on_hand), 0) AS on_hand, coalesce(sum(s.reserved), 0) AS reserved
            FROM stock_levels s
            WHERE s.book_id = $1 AND s.variant_id = h.variant_id
                AND s.store_id IS NOT DISTINCT FROM h.store_id) l
        """,
        book_id,
        [move.variant_id for move in moves],
        [move.store_id for move in moves],
        [move.on_hand_change for move in moves],
        [move.reserved_change for move in moves],
        [move.allows for move in moves],
    )
    return [MovedStock(**row) for row in rows]


async def insert_levels(
    db: Db, book_id: BookId, now: datetime, levels: list[tuple[UUID, LevelKey]]
) -> None:
    """Open places at zero, each under its new id; those that there are stay as they are."""
    await db.execute(
        """
        INSERT INTO stock_levels (book_id, id, variant_id, store_id, on_hand, updated_at)
        SELECT $1, p.id, p.variant_id, p.store_id, 0, $2
        FROM unnest($3::uuid[], $4::uuid[], $5::uuid[]) AS p (id, variant_id, store_id)
        ORDER BY p.variant_id, p.store_id
        ON CONFLICT (book_id, variant_id, store_id) DO NOTHING
        """,
        book_id,
        now,
        [level_id for level_id, _ in levels],
        [key.variant_id for _, key in levels],
        [key.store_id for _, key in levels],
    )
