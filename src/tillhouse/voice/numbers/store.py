"""The table of voice numbers, and the statements that calls and secrets need."""

from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import BookId, BookKey, StoreId
from tillhouse.providers.telephony.provider import ProviderName
from tillhouse.voice.numbers.rules import NumberFacts


class StoredNumber(NumberFacts, frozen=True, kw_only=True):
    """A number as it is stored, but for its secrets."""

    id: UUID
    phone_number: str
    provider: ProviderName
    active_calls: int
    created_at: Timestamp
    updated_at: Timestamp


# The default one first, then the oldest. A lock keeps others from dialling by the number, too.
NUMBERS = BookTable(
    "voice_numbers n",
    StoredNumber,
    shown="""n.phone_number, n.label, n.provider, n.status, n.is_default, n.default_agent_id,
        n.store_id, n.max_concurrent_calls, n.calls_per_second, n.calls_from, n.calls_until,
        n.allowed_prefixes,
        (SELECT count(*) FROM voice_calls c
         WHERE c.book_id = n.book_id AND c.number_id = n.id AND c.lease_until > now()
        ) AS active_calls""",
    order="n.is_default DESC, n.id",
    made_with=("phone_number", "provider"),
    fields=NumberFacts,
    lock="UPDATE",
)


async def update_settings(db: Db, key: BookKey, sealed: bytes | None) -> None:
    """The settings of a number, sealed."""
    await db.execute(
        "UPDATE voice_numbers SET settings_sealed = $3 WHERE book_id = $1 AND id = $2",
        *key,
        sealed,
    )


async def update_no_default(db: Db, book_id: BookId) -> None:
    """No number is the default one now."""
    await db.execute(
        "UPDATE voice_numbers SET is_default = false WHERE book_id = $1 AND is_default", book_id
    )


async def delete_number(db: Db, key: BookKey, now: datetime) -> bool:
    """Take a number out of use, unless calls from it have not ended; whether it went."""
    return await db.execute_one(
        """
        UPDATE voice_numbers n SET deleted_at = $3, updated_at = $3, is_default = false,
            settings_sealed = NULL
        WHERE n.book_id = $1 AND n.id = $2 AND NOT EXISTS (
            SELECT FROM voice_calls c
            WHERE c.book_id = $1 AND c.number_id = $2 AND (c.status = 'queued'
                OR c.lease_until IS NOT NULL))
        """,
        *key,
        now,
    )


async def find_known(
    db: Db, book_id: BookId, agent_id: UUID | None, store_id: StoreId | None
) -> Record:
    """Whether the book has an agent and a store, where they are named; and its country."""
    [row] = await db.fetch(
        """
        SELECT $2::uuid IS NULL OR EXISTS (
                SELECT FROM voice_agents
                WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL) AS has_agent,
            $3::uuid IS NULL OR EXISTS (
                SELECT FROM stores
                WHERE book_id = $1 AND id = $3 AND deleted_at IS NULL) AS has_store,
            b.country
        FROM books k JOIN businesses b ON b.id = k.business_id WHERE k.id = $1
        """,
        book_id,
        agent_id,
        store_id,
    )
    return row
