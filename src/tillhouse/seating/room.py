"""Tables, and who sits at them: the face of the room."""

from tillhouse.access.scopes import pair
from tillhouse.db.constraints import taken
from tillhouse.http.route import Group, Route, Scope
from tillhouse.room import Room
from tillhouse.seating import actions

_TABLES, _TABLE = "/v1/tables", "/v1/tables/{table_id}"
_SESSIONS, _SESSION = "/v1/table-sessions", "/v1/table-sessions/{session_id}"
_CLOSE = _SESSION + "/close"
_READ, _WRITE = Scope("tables:read"), Scope("tables:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _TABLES, actions.list_tables, _READ,
          "List tables, each with its open session", "Tables"),
    Route("POST", _TABLES, actions.create_table, _WRITE,
          "Create a table", "Table created",
          status=201, idempotent=True, faults=actions.table_faults),
    Route("GET", _TABLE, actions.show_table, _READ, "Read one table", "Table"),
    Route("PATCH", _TABLE, actions.change_table, _WRITE,
          "Update a table", "Table updated",
          faults=actions.table_patch_faults),
    Route("DELETE", _TABLE, actions.delete_table, _WRITE,
          "Delete a table that has no guests", "Table deleted"),
    Route("GET", _SESSIONS, actions.list_sessions, _READ,
          "List table sessions, the last opened first", "Table sessions"),
    Route("POST", _SESSIONS, actions.open_session, _WRITE,
          "Open a session at a table that has none", "Table session opened",
          status=201, idempotent=True, faults=actions.session_faults),
    Route("GET", _SESSION, actions.show_session, _READ,
          "Read one table session, with what was ordered in it", "Table session"),
    Route("PATCH", _SESSION, actions.change_session, _WRITE,
          "Update the covers of an open session", "Table session updated"),
    Route("POST", _CLOSE, actions.close_session, _WRITE,
          "Close a session, by force also while its orders are unpaid", "Table session closed",
          idempotent=True),
)  # fmt: skip


ROOM = Room(
    name="seating",
    routes=ROUTES,
    groups=(
        Group(
            "/v1/table-sessions",
            "Table sessions",
            "Guests at a table, from sitting down to paying.",
            "places",
        ),
        Group(
            "/v1/tables", "Tables", "The tables of a restaurant, and who sits at them.", "places"
        ),
    ),
    scopes=pair(
        "tables",
        ("tables and table sessions", "Business"),
        "low",
        readers=("cashier", "front_desk"),
        writers=("cashier", "front_desk"),
    ),
    kept_tables=("dining_tables", "table_sessions"),
    refusals=(
        taken(
            "dining_tables_label_key",
            "The store has a table of this label already: choose another.",
        ),
    ),
)
