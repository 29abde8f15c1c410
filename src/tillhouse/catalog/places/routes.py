"""The routes of stores, staff, tables, table sessions, academic terms and tags."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.catalog.places import actions, rules
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
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.errors import FieldError


async def list_stores(call: Call, query: Paged) -> Reply[list[Store]]:
    """List stores."""
    found, page = await actions.list_stores(call, query)
    return Reply("Stores", found, meta=page)


async def create_store(call: Call, body: NewStore) -> Reply[Store]:
    """Create a store."""
    return Reply("Store created", await actions.create_store(call, body))


async def show_store(call: Call, store_id: UUID) -> Reply[Store]:
    """Read one store."""
    return Reply("Store", await actions.show_store(call, store_id))


async def change_store(call: Call, store_id: UUID, body: StorePatch) -> Reply[Store]:
    """Update a store."""
    return Reply("Store updated", await actions.change_store(call, store_id, body))


async def delete_store(call: Call, store_id: UUID) -> Reply[Deleted]:
    """Delete a store in which no table and no stock is left."""
    return Reply("Store deleted", await actions.delete_store(call, store_id))


async def new_store_faults(call: Call, body: NewStore) -> list[FieldError]:
    """What speaks against a new store."""
    return await actions.store_faults(call, body)


async def store_faults(call: Call, store_id: UUID, body: StorePatch) -> list[FieldError]:
    """What speaks against the change of a store."""
    await actions.show_store(call, store_id)
    return await actions.store_faults(call, body)


async def list_staff(call: Call, query: Paged) -> Reply[list[Staff]]:
    """List those who work for the business."""
    found, page = await actions.list_staff(call, query)
    return Reply("Staff", found, meta=page)


async def show_staff(call: Call, staff_id: UUID) -> Reply[Staff]:
    """Read one who works for the business."""
    return Reply("Staff", await actions.show_staff(call, staff_id))


async def list_tables(call: Call, query: TableFilter) -> Reply[list[Table]]:
    """List tables, each with its open session."""
    found, page = await actions.list_tables(call, query)
    return Reply("Tables", found, meta=page)


async def create_table(call: Call, body: NewTable) -> Reply[Table]:
    """Create a table."""
    return Reply("Table created", await actions.create_table(call, body))


async def show_table(call: Call, table_id: UUID) -> Reply[Table]:
    """Read one table."""
    return Reply("Table", await actions.show_table(call, table_id))


async def change_table(call: Call, table_id: UUID, body: TablePatch) -> Reply[Table]:
    """Update a table."""
    return Reply("Table updated", await actions.change_table(call, table_id, body))


async def delete_table(call: Call, table_id: UUID) -> Reply[Deleted]:
    """Delete a table at which nobody sits."""
    return Reply("Table deleted", await actions.delete_table(call, table_id))


async def new_table_faults(call: Call, body: NewTable) -> list[FieldError]:
    """What speaks against a new table."""
    return await actions.table_faults(call, body)


async def table_faults(call: Call, table_id: UUID, body: TablePatch) -> list[FieldError]:
    """What speaks against the change of a table."""
    await actions.show_table(call, table_id)
    return await actions.table_faults(call, body)


async def list_sessions(call: Call, query: SessionFilter) -> Reply[list[Session]]:
    """List table sessions, the last opened first."""
    found, page = await actions.list_sessions(call, query)
    return Reply("Table sessions", found, meta=page)


async def open_session(call: Call, body: NewSession) -> Reply[Session]:
    """Open a session at a table that has none."""
    return Reply("Table session opened", await actions.open_session(call, body))


async def new_session_faults(call: Call, body: NewSession) -> list[FieldError]:
    """What speaks against a new session."""
    return await actions.session_faults(call, body)


async def show_session(call: Call, session_id: UUID) -> Reply[Session]:
    """Read one table session, with what was ordered in it."""
    return Reply("Table session", await actions.show_session(call, session_id))


async def change_session(call: Call, session_id: UUID, body: SessionPatch) -> Reply[Session]:
    """Update the covers of an open session."""
    return Reply("Table session updated", await actions.change_session(call, session_id, body))


async def close_session(call: Call, session_id: UUID, body: Closing) -> Reply[Session]:
    """Close a session, by force also while its orders are unpaid."""
    return Reply("Table session closed", await actions.close_session(call, session_id, body))


async def list_terms(call: Call, query: Paged) -> Reply[list[Term]]:
    """List academic terms, the last to begin first."""
    found, page = await actions.list_terms(call, query)
    return Reply("Academic terms", found, meta=page)


async def create_term(call: Call, body: NewTerm) -> Reply[Term]:
    """Create an academic term."""
    return Reply("Academic term created", await actions.create_term(call, body))


async def new_term_faults(_call: Call, body: NewTerm) -> list[FieldError]:
    """What speaks against a new term."""
    return rules.term_faults(body)


async def show_term(call: Call, term_id: UUID) -> Reply[Term]:
    """Read one academic term."""
    return Reply("Academic term", await actions.show_term(call, term_id))


async def change_term(call: Call, term_id: UUID, body: TermPatch) -> Reply[Term]:
    """Update an academic term."""
    return Reply("Academic term updated", await actions.change_term(call, term_id, body))


async def term_faults(call: Call, term_id: UUID, body: TermPatch) -> list[FieldError]:
    """What speaks against the change of a term."""
    return await actions.term_faults(call, term_id, body)


async def delete_term(call: Call, term_id: UUID) -> Reply[Deleted]:
    """Delete an academic term; orders keep it."""
    return Reply("Academic term deleted", await actions.delete_term(call, term_id))


async def list_tags(call: Call, query: Paged) -> Reply[list[Tag]]:
    """List tags."""
    found, page = await actions.list_tags(call, query)
    return Reply("Tags", found, meta=page)


async def create_tag(call: Call, body: NewTag) -> Reply[Tag]:
    """Create a tag."""
    return Reply("Tag created", await actions.create_tag(call, body))


async def show_tag(call: Call, tag_id: UUID) -> Reply[Tag]:
    """Read one tag."""
    return Reply("Tag", await actions.show_tag(call, tag_id))


async def change_tag(call: Call, tag_id: UUID, body: TagPatch) -> Reply[Tag]:
    """Rename a tag; its slug follows."""
    return Reply("Tag updated", await actions.change_tag(call, tag_id, body))


async def delete_tag(call: Call, tag_id: UUID) -> Reply[Deleted]:
    """Delete a tag; what carries it carries it no more."""
    return Reply("Tag deleted", await actions.delete_tag(call, tag_id))


_STORES, _STORE = "/v1/stores", "/v1/stores/{store_id}"
_TABLES, _TABLE = "/v1/tables", "/v1/tables/{table_id}"
_SESSIONS, _SESSION = "/v1/table-sessions", "/v1/table-sessions/{session_id}"
_TERMS, _TERM = "/v1/academic-terms", "/v1/academic-terms/{term_id}"
_TAGS, _TAG = "/v1/tags", "/v1/tags/{tag_id}"
_CLOSE = _SESSION + "/close"
_READ, _WRITE = Scope("stores:read"), Scope("stores:write")
_LOOK, _SEAT = Scope("tables:read"), Scope("tables:write")
_ORDERS, _ORDER = Scope("orders:read"), Scope("orders:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _STORES, list_stores, _READ),
    Route("POST", _STORES, create_store, _WRITE, status=201, once=True, faults=new_store_faults),
    Route("GET", _STORE, show_store, _READ),
    Route("PATCH", _STORE, change_store, _WRITE, faults=store_faults),
    Route("DELETE", _STORE, delete_store, _WRITE),
    Route("GET", "/v1/staff", list_staff, _READ),
    Route("GET", "/v1/staff/{staff_id}", show_staff, _READ),
    Route("GET", _TABLES, list_tables, _LOOK),
    Route("POST", _TABLES, create_table, _SEAT, status=201, once=True, faults=new_table_faults),
    Route("GET", _TABLE, show_table, _LOOK),
    Route("PATCH", _TABLE, change_table, _SEAT, faults=table_faults),
    Route("DELETE", _TABLE, delete_table, _SEAT),
    Route("GET", _SESSIONS, list_sessions, _LOOK),
    Route("POST", _SESSIONS, open_session, _SEAT, status=201, once=True, faults=new_session_faults),
    Route("GET", _SESSION, show_session, _LOOK),
    Route("PATCH", _SESSION, change_session, _SEAT),
    Route("POST", _CLOSE, close_session, _SEAT, once=True),
    Route("GET", _TERMS, list_terms, _READ),
    Route("POST", _TERMS, create_term, _WRITE, status=201, once=True, faults=new_term_faults),
    Route("GET", _TERM, show_term, _READ),
    Route("PATCH", _TERM, change_term, _WRITE, faults=term_faults),
    Route("DELETE", _TERM, delete_term, _WRITE),
    Route("GET", _TAGS, list_tags, _ORDERS),
    Route("POST", _TAGS, create_tag, _ORDER, status=201, once=True),
    Route("GET", _TAG, show_tag, _ORDERS),
    Route("PATCH", _TAG, change_tag, _ORDER),
    Route("DELETE", _TAG, delete_tag, _ORDER),
)
