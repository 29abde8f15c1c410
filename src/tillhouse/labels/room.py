"""Academic terms and tags: the face of the room."""

from tillhouse.db.constraints import taken, wrong_field
from tillhouse.http.route import Group, Route, Scope
from tillhouse.labels import actions
from tillhouse.room import Room

_TERMS, _TERM = "/v1/academic-terms", "/v1/academic-terms/{term_id}"
_TAGS, _TAG = "/v1/tags", "/v1/tags/{tag_id}"
_READ, _WRITE = Scope("stores:read"), Scope("stores:write")
_READ_ORDERS, _WRITE_ORDERS = Scope("orders:read"), Scope("orders:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _TERMS, actions.list_terms, _READ,
          "List academic terms, the last to begin first", "Academic terms"),
    Route("POST", _TERMS, actions.create_term, _WRITE,
          "Create an academic term", "Academic term created",
          status=201, idempotent=True, faults=actions.new_term_faults),
    Route("GET", _TERM, actions.show_term, _READ, "Read one academic term", "Academic term"),
    Route("PATCH", _TERM, actions.change_term, _WRITE,
          "Update an academic term", "Academic term updated",
          faults=actions.term_faults),
    Route("DELETE", _TERM, actions.delete_term, _WRITE,
          "Delete an academic term; orders keep it", "Academic term deleted"),
    Route("GET", _TAGS, actions.list_tags, _READ_ORDERS, "List tags", "Tags"),
    Route("POST", _TAGS, actions.create_tag, _WRITE_ORDERS,
          "Create a tag", "Tag created",
          status=201, idempotent=True),
    Route("GET", _TAG, actions.show_tag, _READ_ORDERS, "Read one tag", "Tag"),
    Route("PATCH", _TAG, actions.change_tag, _WRITE_ORDERS,
          "Rename a tag; its slug follows", "Tag updated"),
    Route("DELETE", _TAG, actions.delete_tag, _WRITE_ORDERS,
          "Delete a tag; what carries it carries it no more", "Tag deleted"),
)  # fmt: skip


ROOM = Room(
    name="labels",
    routes=ROUTES,
    groups=(
        Group("/v1/academic-terms", "Academic terms", "The terms of a school's sales.", "places"),
        Group("/v1/tags", "Tags", "Words that orders are sorted by.", "places"),
    ),
    kept_tables=("academic_terms", "tags"),
    refusals=(
        wrong_field("academic_terms_in_order", "ends_on", "must not be before starts_on"),
        taken(
            "academic_terms_name_key",
            "There is a term of this name already: choose another name.",
        ),
        taken(
            "tags_slug_key",
            "There is a tag of this name already: use it, or choose another name.",
        ),
    ),
)
