"""The routes of tables and table sessions."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError
from tillhouse.seating import actions
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
    """The faults of a new table."""
    return await actions.table_faults(call, body)


async def table_faults(call: Call, table_id: UUID, body: TablePatch) -> list[FieldError]:
    """The faults of a change of a table."""
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
    """The faults of a new session."""
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


_TABLES, _TABLE = "/v1/tables", "/v1/tables/{table_id}"
_SESSIONS, _SESSION = "/v1/table-sessions", "/v1/table-sessions/{session_id}"
_CLOSE = _SESSION + "/close"
_READ, _WRITE = Scope("tables:read"), Scope("tables:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _TABLES, list_tables, _READ),
    Route(
        "POST", _TABLES, create_table, _WRITE, status=201, idempotent=True, faults=new_table_faults
    ),
    Route("GET", _TABLE, show_table, _READ),
    Route("PATCH", _TABLE, change_table, _WRITE, faults=table_faults),
    Route("DELETE", _TABLE, delete_table, _WRITE),
    Route("GET", _SESSIONS, list_sessions, _READ),
    Route(
        "POST",
        _SESSIONS,
        open_session,
        _WRITE,
        status=201,
        idempotent=True,
        faults=new_session_faults,
    ),
    Route("GET", _SESSION, show_session, _READ),
    Route("PATCH", _SESSION, change_session, _WRITE),
    Route("POST", _CLOSE, close_session, _WRITE, idempotent=True),
)
