"""Statements on tallies of conversations: changes folded, and how many conversations fit."""

from tillhouse.db.folding import taking
from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId
from tillhouse.messaging.store.conversations import ConversationQuery, and_filters


async def update_tallies(db: Db, limit: int) -> int:
    """Fold some changes into the tallies of their kinds; how many."""
    row = await db.write_once(
        taking("conversation_tally_changes")
        + """, kept AS (
            INSERT INTO conversation_tallies AS t
                (book_id, status, assignee_id, is_unread, conversations)
            SELECT book_id, status, assignee_id, is_unread, sum(conversations)
            FROM gone GROUP BY 1, 2, 3, 4
            ON CONFLICT ON CONSTRAINT conversation_tallies_kind_key DO UPDATE SET
                conversations = t.conversations + excluded.conversations
        )
        SELECT count(*) FROM gone
        """,
        limit,
    )
    return row[0] if row else 0


async def count_tallied(db: Db, book_id: BookId, query: ConversationQuery) -> int:
    """How many conversations there are of these kinds."""
    where = and_filters(Where(book_id), query)
    return await db.fetchval(
        """
        WITH t AS (
            SELECT status, assignee_id, is_unread, conversations
            FROM conversation_tallies WHERE book_id = $1
            UNION ALL SELECT status, assignee_id, is_unread, conversations
            FROM conversation_tally_changes WHERE book_id = $1
        ), c AS (
            SELECT status, assignee_id, is_unread::integer AS unread_count,
                NULL::uuid AS customer_id, conversations
            FROM t
        )
        SELECT coalesce(sum(c.conversations), 0)::bigint FROM c WHERE true
        """
        + where.sql(),
        *where.args,
    )
