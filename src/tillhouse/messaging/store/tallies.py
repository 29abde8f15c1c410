"""The tallies of conversations, and how many conversations fit."""

from tillhouse.db.folding import Folding, Tally, same
from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId
from tillhouse.messaging.store.conversations import ConversationQuery, and_filters

CONVERSATION_TALLIES = Folding(
    "conversation_tally_changes",
    Tally(
        "conversation_tallies",
        key="conversation_tallies_kind_key",
        kinds=same(("status", "assignee_id", "is_unread")),
        sums=("conversations",),
    ),
)


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
