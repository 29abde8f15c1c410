"""Statements on the automatic assignment of conversations: members, turns, who waits."""

from collections.abc import Sequence
from datetime import datetime

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BusinessId, ConversationId, UserId


async def upsert_inbox(db: Db, book_id: BookId, now: datetime) -> Record:
    """The settings of a book's inbox, locked: one batch is assigned at a time."""
    [row] = await db.fetch(
        """
        INSERT INTO messaging_inboxes (book_id, updated_at) VALUES ($1, $2)
        ON CONFLICT (book_id) DO UPDATE SET turns = messaging_inboxes.turns
        RETURNING assigns_automatically, turns
        """,
        book_id,
        now,
    )
    return row


async def show_inbox(db: Db, book_id: BookId) -> bool:
    """Whether conversations are assigned automatically; they are until somebody ends that."""
    return await db.fetchval(
        """
        SELECT coalesce((SELECT assigns_automatically FROM messaging_inboxes
            WHERE book_id = $1), true)
        """,
        book_id,
    )


async def update_inbox(db: Db, book_id: BookId, now: datetime, *, assigns: bool) -> None:
    """Assign automatically from now on, or no more."""
    await db.execute(
        """
        UPDATE messaging_inboxes SET assigns_automatically = $3, updated_at = $2
        WHERE book_id = $1
        """,
        book_id,
        now,
        assigns,
    )


async def list_online(db: Db, book_id: BookId, now: datetime) -> Sequence[Record]:
    """The members who are online, the one whose turn is longest ago first."""
    return await db.fetch(
        """
        SELECT p.user_id, u.name
        FROM books b
        JOIN messaging_presence p ON p.business_id = b.business_id AND p.online_until > $2
        JOIN users u ON u.id = p.user_id
        LEFT JOIN messaging_turns t ON t.book_id = b.id AND t.user_id = p.user_id
        WHERE b.id = $1
        ORDER BY t.turn NULLS FIRST, p.user_id
        """,
        book_id,
        now,
    )


async def lock_waiting(db: Db, book_id: BookId, limit: int) -> list[ConversationId]:
    """Conversations without an assignee, the longest wait first; those that others lock aside."""
    rows = await db.fetch(
        """
        SELECT id FROM conversations WHERE book_id = $1 AND began_waiting_at IS NOT NULL
        ORDER BY began_waiting_at, id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
        """,
        book_id,
        limit,
    )
    return [row["id"] for row in rows]


async def has_waiting(db: Db, book_id: BookId) -> bool:
    """Whether there is a conversation without an assignee."""
    return await db.fetchval(
        """
        SELECT EXISTS (SELECT FROM conversations
            WHERE book_id = $1 AND began_waiting_at IS NOT NULL)
        """,
        book_id,
    )


async def update_assignees(
    db: Db,
    book_id: BookId,
    assigned: Sequence[tuple[ConversationId, UserId]],
    now: datetime,
) -> None:
    """Set who answers each of these conversations from now on."""
    await db.execute(
        """
        UPDATE conversations c SET assignee_id = a.user_id, assigned_at = $4, updated_at = $4,
            began_waiting_at = NULL
        FROM unnest($2::uuid[], $3::uuid[]) a (id, user_id)
        WHERE c.book_id = $1 AND c.id = a.id
        """,
        book_id,
        [conversation_id for conversation_id, _ in assigned],
        [user_id for _, user_id in assigned],
        now,
    )


async def upsert_turns(db: Db, book_id: BookId, turns: dict[UserId, int], last: int) -> None:
    """Keep the number of each member's last turn, and of the last of all."""
    await db.execute(
        """
        WITH inbox AS (UPDATE messaging_inboxes SET turns = $4 WHERE book_id = $1)
        INSERT INTO messaging_turns (book_id, user_id, turn)
        SELECT $1, user_id, turn FROM unnest($2::uuid[], $3::bigint[]) t (user_id, turn)
        ON CONFLICT (book_id, user_id) DO UPDATE SET turn = excluded.turn
        """,
        book_id,
        list(turns),
        list(turns.values()),
        last,
    )


async def upsert_presence(
    db: Db, business_id: BusinessId, user_id: UserId, until: datetime, now: datetime
) -> None:
    """A member is online until then."""
    await db.execute(
        """
        INSERT INTO messaging_presence (business_id, user_id, online_until, updated_at)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (business_id, user_id) DO UPDATE SET
            online_until = excluded.online_until, updated_at = excluded.updated_at
        """,
        business_id,
        user_id,
        until,
        now,
    )


async def list_presence(db: Db, business_id: BusinessId, now: datetime) -> Sequence[Record]:
    """The members who are online, by name."""
    return await db.fetch(
        """
        SELECT p.user_id, u.name, iso(p.online_until) AS online_until
        FROM messaging_presence p JOIN users u ON u.id = p.user_id
        WHERE p.business_id = $1 AND p.online_until > $2
        ORDER BY u.name, p.user_id
        """,
        business_id,
        now,
    )


async def end_snooze(
    db: Db, book_id: BookId, conversation_id: ConversationId, until: datetime, now: datetime
) -> bool:
    """Open a conversation that was snoozed until then, or less; whether it was."""
    return await db.execute_one(
        """
        UPDATE conversations SET status = 'open', snoozed_until = NULL, updated_at = $4,
            began_waiting_at = CASE WHEN assignee_id IS NULL THEN $4::timestamptz END
        WHERE book_id = $1 AND id = $2 AND status = 'snoozed' AND snoozed_until <= $3
        """,
        book_id,
        conversation_id,
        until,
        now,
    )
