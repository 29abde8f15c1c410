"""Tables and their sessions: set tables up, seat guests and let them go."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Conflict, FieldError, check, existing, unknown
from tillhouse.kit.ids import BookKey, StoreId, TableId, new_id
from tillhouse.kit.page import Deleted, PageOf, meta
from tillhouse.kit.partial import InvalidField, facts_of, merged
from tillhouse.seating import rules
from tillhouse.seating.store import sessions as session_store
from tillhouse.seating.store.tables import TABLES, update_table_sessions
from tillhouse.seating.types import (
    Closing,
    NewSession,
    NewTable,
    Session,
    SessionFilter,
    SessionPatch,
    Table,
    TableFilter,
    TablePatch,
)
from tillhouse.stores.store import STORES, lock_kept_store


async def list_tables(call: Call, wanted: TableFilter) -> PageOf[Table]:
    """One page of the tables."""
    return await TABLES.page(call.db, call.book.id, wanted.pick(), store_id=wanted.store_id)


async def show_table(call: Call, table_id: TableId) -> Table:
    """One table."""
    return existing(await TABLES.show(call.db, call.book.id, table_id))


async def create_table(call: Call, new: NewTable) -> Table:
    """Set up a table."""
    await _keep_store(call, new.store_id)
    key = BookKey(call.book.id, new_id())
    await TABLES.insert(call.db, key, facts_of(rules.TableFacts, new), call.now)
    return await show_table(call, TableId(key.id))


async def table_faults(call: Call, asked: NewTable | TablePatch) -> list[FieldError]:
    """The faults of a table, new or changed."""
    try:
        store_id = asked.store_id
    except InvalidField:
        return []
    known = not store_id or await STORES.has(call.db, call.book.id, store_id)
    return [] if known else [unknown("store_id", "store")]


async def table_patch_faults(call: Call, table_id: TableId, patch: TablePatch) -> list[FieldError]:
    """The faults of a change of a table, if there is one."""
    await show_table(call, table_id)
    return await table_faults(call, patch)


async def change_table(call: Call, table_id: TableId, patch: TablePatch) -> Table:
    """Change the fields that the patch names."""
    await _keep_store(call, patch.store_id or None)
    before = existing(await TABLES.lock(call.db, call.book.id, table_id))
    old = facts_of(rules.TableFacts, before)
    facts = merged(old, patch)
    if facts != old:
        await TABLES.update(call.db, BookKey(call.book.id, table_id), facts, call.now)
    return await show_table(call, table_id)


async def delete_table(call: Call, table_id: TableId) -> Deleted:
    """Take a table out of the list."""
    existing(await TABLES.lock(call.db, call.book.id, table_id))
    # Asked once the table is ours: a session that began before has been waited for.
    if await session_store.find_open_session(call.db, call.book.id, table_id):
        raise rules.StillSeated
    await TABLES.delete(call.db, BookKey(call.book.id, table_id), call.now)
    return Deleted(table_id, iso(call.now))


async def _keep_store(call: Call, store_id: StoreId | None) -> None:
    if store_id and not await lock_kept_store(call.db, call.book.id, store_id):
        check([unknown("store_id", "store")])


async def list_sessions(call: Call, wanted: SessionFilter) -> PageOf[Session]:
    """One page of the table sessions."""
    page, book = wanted.pick(), (call.db, call.book.id)
    row = existing(await session_store.count_sessions(*book, wanted.table_id))
    opened, total = row["open_sessions"], row["all_sessions"]
    if wanted.status == "open":
        found = await session_store.list_open_sessions(*book, wanted.table_id, page)
        return PageOf(found, meta(page, opened))
    found = await session_store.list_sessions(*book, wanted.status, wanted.table_id, page)
    return PageOf(found, meta(page, total - opened if wanted.status == "closed" else total))


async def show_session(call: Call, session_id: UUID) -> Session:
    """One table session."""
    return existing(await session_store.show_session(call.db, call.book.id, session_id))


async def open_session(call: Call, new: NewSession) -> Session:
    """Seat guests; of two at once at one table the index lets one pass."""
    book = (call.db, call.book.id)
    is_active = await update_table_sessions(*book, new.table_id)
    if is_active is None:
        check([unknown("table_id", "table")])
    if not is_active:
        raise rules.OutOfUse
    session_id = new_id()
    if not await session_store.insert_session(
        *book, session_id, new.table_id, new.covers, call.now
    ):
        other = await session_store.find_open_session(*book, new.table_id)
        raise rules.already_open(other) if other else Conflict
    return await show_session(call, session_id)


async def session_faults(call: Call, new: NewSession) -> list[FieldError]:
    """The faults of seating guests there."""
    try:
        table_id = new.table_id
    except InvalidField:
        return []
    known = await TABLES.has(call.db, call.book.id, table_id)
    return [] if known else [unknown("table_id", "table")]


async def change_session(call: Call, session_id: UUID, patch: SessionPatch) -> Session:
    """Change how many guests there are."""
    status = existing(await session_store.lock_session(call.db, call.book.id, session_id))
    if status == "closed":
        raise rules.SessionClosed
    before = await show_session(call, session_id)
    covers = merged(facts_of(rules.SessionFields, before), patch).covers
    if covers != before.covers:
        await session_store.update_covers(call.db, call.book.id, session_id, covers, call.now)
    return await show_session(call, session_id)


async def close_session(call: Call, session_id: UUID, how: Closing) -> Session:
    """Let guests go; closing twice is closing once."""
    session = (call.db, call.book.id, session_id)
    if existing(await session_store.lock_session(*session)) == "open":
        # Asked once the session is ours: an order that was on its way has been waited for.
        unpaid = await session_store.count_unpaid(*session)
        if unpaid and not how.force:
            raise rules.still_owed(unpaid, await show_session(call, session_id))
        await session_store.end_session(*session, call.now)
    return await show_session(call, session_id)
