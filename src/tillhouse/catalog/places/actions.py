"""Places: make, show, change and delete them; seat guests and let them go; find or make tags."""

from typing import TypeVar
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.catalog.places import rules
from tillhouse.catalog.places.store import sessions as session_store
from tillhouse.catalog.places.store import staff as staff_store
from tillhouse.catalog.places.store import stores as store_store
from tillhouse.catalog.places.store import tables as table_store
from tillhouse.catalog.places.store import tags as tag_store
from tillhouse.catalog.places.store import terms as term_store
from tillhouse.catalog.places.types import (
    Closing,
    Deleted,
    NewSession,
    NewStore,
    NewTable,
    NewTag,
    NewTerm,
    Paged,
    Session,
    SessionFilter,
    SessionPatch,
    Staff,
    Store,
    StorePatch,
    Table,
    TableFilter,
    TablePatch,
    Tag,
    TagPatch,
    Term,
    TermPatch,
)
from tillhouse.catalog.stock.store.levels import has_stock
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Conflict, FieldError, Missing, check
from tillhouse.kit.ids import new_id
from tillhouse.kit.page import Meta, Page, meta
from tillhouse.kit.partly import Gap
from tillhouse.kit.text import slug

T = TypeVar("T")


def _there(found: T | None) -> T:
    if found is None:
        raise Missing
    return found


def _page(wanted: Paged) -> Page:
    return Page(wanted.page, wanted.limit)


async def list_stores(call: Call, wanted: Paged) -> tuple[list[Store], Meta]:
    """One page of the stores."""
    total = await store_store.count_stores(call.db, call.book.id)
    found = await store_store.list_stores(call.db, call.book.id, _page(wanted))
    return found, meta(_page(wanted), total)


async def show_store(call: Call, store_id: UUID) -> Store:
    """One store."""
    return _there(await store_store.show_store(call.db, call.book.id, store_id))


async def create_store(call: Call, new: NewStore) -> Store:
    """Make a store."""
    country = await store_store.find_country(call.db, call.business_id)
    check(rules.store_faults(new, country))
    facts = rules.clean_store(rules.facts(rules.StoreFacts, new), country)
    store_id = new_id()
    await store_store.insert_store(call.db, call.book.id, store_id, facts, call.now)
    return await show_store(call, store_id)


async def store_faults(call: Call, asked: NewStore | StorePatch) -> list[FieldError]:
    """What speaks against a store, new or changed."""
    country = await store_store.find_country(call.db, call.business_id)
    return rules.store_faults(asked, country)


async def change_store(call: Call, store_id: UUID, patch: StorePatch) -> Store:
    """Change what the patch names."""
    before = _there(await store_store.lock_store(call.db, call.book.id, store_id))
    country = await store_store.find_country(call.db, call.business_id)
    check(rules.store_faults(patch, country))
    old = rules.facts(rules.StoreFacts, before)
    facts = rules.clean_store(rules.merged(old, patch), country)
    if facts == old:
        return before
    await store_store.update_store(call.db, call.book.id, store_id, facts, call.now)
    return await show_store(call, store_id)


async def delete_store(call: Call, store_id: UUID) -> Deleted:
    """Take a store out of the list; orders of it stay as they are."""
    _there(await store_store.lock_store(call.db, call.book.id, store_id))
    if await store_store.has_tables(call.db, call.book.id, store_id):
        raise rules.HasTables
    # Asked once the store is ours: stock that was on its way here has been waited for.
    if await has_stock(call.db, call.book.id, store_id):
        raise rules.HasStock
    await store_store.delete_store(call.db, call.book.id, store_id, call.now)
    return Deleted(store_id, iso(call.now))


async def list_staff(call: Call, wanted: Paged) -> tuple[list[Staff], Meta]:
    """One page of those who work for the business."""
    total = await staff_store.count_staff(call.db, call.business_id)
    found = await staff_store.list_staff(call.db, call.business_id, _page(wanted))
    return found, meta(_page(wanted), total)


async def show_staff(call: Call, staff_id: UUID) -> Staff:
    """One who works for the business."""
    return _there(await staff_store.show_staff(call.db, call.business_id, staff_id))


async def list_tables(call: Call, wanted: TableFilter) -> tuple[list[Table], Meta]:
    """One page of the tables."""
    total = await table_store.count_tables(call.db, call.book.id, wanted.store_id)
    found = await table_store.list_tables(call.db, call.book.id, wanted.store_id, _page(wanted))
    return found, meta(_page(wanted), total)


async def show_table(call: Call, table_id: UUID) -> Table:
    """One table."""
    return _there(await table_store.show_table(call.db, call.book.id, table_id))


async def create_table(call: Call, new: NewTable) -> Table:
    """Set up a table."""
    await _keep_store(call, new.store_id)
    facts, table_id = rules.facts(rules.TableFacts, new), new_id()
    await table_store.insert_table(call.db, call.book.id, table_id, facts, call.now)
    return await show_table(call, table_id)


async def table_faults(call: Call, asked: NewTable | TablePatch) -> list[FieldError]:
    """What speaks against a table, new or changed."""
    try:
        store_id = asked.store_id
    except Gap:
        return []
    known = not store_id or await store_store.has_store(call.db, call.book.id, store_id)
    return [] if known else [rules.unknown("store_id", "store")]


async def change_table(call: Call, table_id: UUID, patch: TablePatch) -> Table:
    """Change what the patch names."""
    await _keep_store(call, patch.store_id or None)
    before = _there(await table_store.lock_table(call.db, call.book.id, table_id))
    old = rules.facts(rules.TableFacts, before)
    facts = rules.merged(old, patch)
    if facts != old:
        await table_store.update_table(call.db, call.book.id, table_id, facts, call.now)
    return await show_table(call, table_id)


async def delete_table(call: Call, table_id: UUID) -> Deleted:
    """Take a table out of the list."""
    _there(await table_store.lock_table(call.db, call.book.id, table_id))
    # Asked once the table is ours: who sat down before has been waited for.
    if await session_store.find_open_session(call.db, call.book.id, table_id):
        raise rules.StillSeated
    await table_store.delete_table(call.db, call.book.id, table_id, call.now)
    return Deleted(table_id, iso(call.now))


async def _keep_store(call: Call, store_id: UUID | None) -> None:
    if store_id and not await store_store.lock_kept_store(call.db, call.book.id, store_id):
        check([rules.unknown("store_id", "store")])


async def list_sessions(call: Call, wanted: SessionFilter) -> tuple[list[Session], Meta]:
    """One page of the table sessions."""
    page, place = _page(wanted), (call.db, call.book.id)
    row = _there(await session_store.count_sessions(*place, wanted.table_id))
    opened, total = row["open_sessions"], row["all_sessions"]
    if wanted.status == "open":
        found = await session_store.list_open_sessions(*place, wanted.table_id, page)
        return found, meta(page, opened)
    found = await session_store.list_sessions(*place, wanted.status, wanted.table_id, page)
    return found, meta(page, total - opened if wanted.status == "closed" else total)


async def show_session(call: Call, session_id: UUID) -> Session:
    """One table session."""
    return _there(await session_store.show_session(call.db, call.book.id, session_id))


async def open_session(call: Call, new: NewSession) -> Session:
    """Seat guests; of two at once at one table the index lets one pass."""
    place = (call.db, call.book.id)
    is_active = await table_store.update_table_sessions(*place, new.table_id)
    if is_active is None:
        check([rules.unknown("table_id", "table")])
    if not is_active:
        raise rules.OutOfUse
    session_id = new_id()
    if not await session_store.insert_session(
        *place, session_id, new.table_id, new.covers, call.now
    ):
        other = await session_store.find_open_session(*place, new.table_id)
        raise rules.already_open(other) if other else Conflict
    return await show_session(call, session_id)


async def session_faults(call: Call, new: NewSession) -> list[FieldError]:
    """What speaks against seating guests there."""
    try:
        table_id = new.table_id
    except Gap:
        return []
    known = await table_store.has_table(call.db, call.book.id, table_id)
    return [] if known else [rules.unknown("table_id", "table")]


async def change_session(call: Call, session_id: UUID, patch: SessionPatch) -> Session:
    """Change how many guests there are."""
    status = _there(await session_store.lock_session(call.db, call.book.id, session_id))
    if status == "closed":
        raise rules.SessionClosed
    before = await show_session(call, session_id)
    covers = rules.merged(rules.facts(rules.SessionFacts, before), patch).covers
    if covers != before.covers:
        await session_store.update_covers(call.db, call.book.id, session_id, covers, call.now)
    return await show_session(call, session_id)


async def close_session(call: Call, session_id: UUID, how: Closing) -> Session:
    """Let guests go; closing twice is closing once."""
    place = (call.db, call.book.id, session_id)
    if _there(await session_store.lock_session(*place)) == "open":
        # Asked once the session is ours: an order that was on its way has been waited for.
        unpaid = await session_store.count_unpaid(*place)
        if unpaid and not how.force:
            raise rules.still_owed(unpaid, await show_session(call, session_id))
        await session_store.end_session(*place, call.now)
    return await show_session(call, session_id)


async def list_terms(call: Call, wanted: Paged) -> tuple[list[Term], Meta]:
    """One page of the academic terms."""
    total = await term_store.count_terms(call.db, call.book.id)
    found = await term_store.list_terms(call.db, call.book.id, _page(wanted))
    return found, meta(_page(wanted), total)


async def show_term(call: Call, term_id: UUID) -> Term:
    """One academic term."""
    return _there(await term_store.show_term(call.db, call.book.id, term_id))


async def create_term(call: Call, new: NewTerm) -> Term:
    """Make an academic term."""
    check(rules.term_faults(new))
    facts, place = rules.facts(rules.TermFacts, new), (call.book.id, new_id())
    await term_store.insert_term(call.db, place, facts.name, rules.days(facts), call.now)
    return await show_term(call, place[1])


async def change_term(call: Call, term_id: UUID, patch: TermPatch) -> Term:
    """Change what the patch names."""
    before = _there(await term_store.lock_term(call.db, call.book.id, term_id))
    old = rules.facts(rules.TermFacts, before)
    check(rules.term_faults(patch, old))
    facts = rules.merged(old, patch)
    if facts == old:
        return before
    place = (call.book.id, term_id)
    await term_store.update_term(call.db, place, facts.name, rules.days(facts), call.now)
    return await show_term(call, term_id)


async def term_faults(call: Call, term_id: UUID, patch: TermPatch) -> list[FieldError]:
    """What speaks against the change of a term."""
    return rules.term_faults(patch, rules.facts(rules.TermFacts, await show_term(call, term_id)))


async def delete_term(call: Call, term_id: UUID) -> Deleted:
    """Take an academic term out of the list."""
    if not await term_store.delete_term(call.db, call.book.id, term_id, call.now):
        raise Missing
    return Deleted(term_id, iso(call.now))


async def list_tags(call: Call, wanted: Paged) -> tuple[list[Tag], Meta]:
    """One page of the tags."""
    total = await tag_store.count_tags(call.db, call.book.id)
    found = await tag_store.list_tags(call.db, call.book.id, _page(wanted))
    return found, meta(_page(wanted), total)


async def create_tag(call: Call, new: NewTag) -> Tag:
    """Make a tag."""
    tag_id = new_id()
    place = (call.book.id, tag_id)
    await tag_store.insert_tag(call.db, place, new.name, slug(new.name), call.now)
    return await show_tag(call, tag_id)


async def show_tag(call: Call, tag_id: UUID) -> Tag:
    """One tag."""
    return _there(await tag_store.show_tag(call.db, call.book.id, tag_id))


async def change_tag(call: Call, tag_id: UUID, patch: TagPatch) -> Tag:
    """Rename a tag; its slug follows."""
    if patch.name:
        place = (call.book.id, tag_id)
        await tag_store.update_tag(call.db, place, patch.name, slug(patch.name), call.now)
    return await show_tag(call, tag_id)


async def delete_tag(call: Call, tag_id: UUID) -> Deleted:
    """Remove a tag, from whatever carries it as well."""
    if not await tag_store.delete_tag(call.db, call.book.id, tag_id):
        raise Missing
    return Deleted(tag_id, iso(call.now))


async def known_tags(call: Call, ids: list[UUID]) -> list[UUID]:
    """Those of the ids that are tags: one that was removed is on nothing any more."""
    return await tag_store.find_tag_ids(call.db, call.book.id, ids)


async def tag_ids(call: Call, tags: list[str]) -> list[UUID]:
    """The ids of tags that are given by id, slug or name, each once, in the order given.

    Names that the book doesn't know become tags; an id that it doesn't know is refused by its
    place, as `tags[2]`.
    """
    if not tags:
        return []
    asked = rules.tags_asked(tags)
    new = [(new_id(), asked.names[one], one) for one in sorted(asked.names)]
    ids = list(asked.ids.values())
    rows = await tag_store.upsert_tags(call.db, call.book.id, ids, new, call.now)
    by_id = {row["id"] for row in rows}
    by_slug = {row["slug"]: row["id"] for row in rows if row["slug"]}
    found = {place: id_ for place, id_ in asked.ids.items() if id_ in by_id}
    found |= {place: by_slug[one] for place, one in asked.slugs.items() if one in by_slug}
    check(rules.unknown_tags(asked, found, len(tags)))
    return list(dict.fromkeys(found[place] for place in range(len(tags))))
