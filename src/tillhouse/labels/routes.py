"""The routes of academic terms and tags."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError
from tillhouse.kit.page import Paged
from tillhouse.labels import actions, rules
from tillhouse.labels.types import NewTag, NewTerm, Tag, TagPatch, Term, TermPatch


async def list_terms(call: Call, query: Paged) -> Reply[list[Term]]:
    """List academic terms, the last to begin first."""
    found, page = await actions.list_terms(call, query)
    return Reply("Academic terms", found, meta=page)


async def create_term(call: Call, body: NewTerm) -> Reply[Term]:
    """Create an academic term."""
    return Reply("Academic term created", await actions.create_term(call, body))


async def new_term_faults(_call: Call, body: NewTerm) -> list[FieldError]:
    """The faults of a new term."""
    return rules.term_faults(body)


async def show_term(call: Call, term_id: UUID) -> Reply[Term]:
    """Read one academic term."""
    return Reply("Academic term", await actions.show_term(call, term_id))


async def change_term(call: Call, term_id: UUID, body: TermPatch) -> Reply[Term]:
    """Update an academic term."""
    return Reply("Academic term updated", await actions.change_term(call, term_id, body))


async def term_faults(call: Call, term_id: UUID, body: TermPatch) -> list[FieldError]:
    """The faults of a change of a term."""
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


_TERMS, _TERM = "/v1/academic-terms", "/v1/academic-terms/{term_id}"
_TAGS, _TAG = "/v1/tags", "/v1/tags/{tag_id}"
_READ, _WRITE = Scope("stores:read"), Scope("stores:write")
_READ_ORDERS, _WRITE_ORDERS = Scope("orders:read"), Scope("orders:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _TERMS, list_terms, _READ),
    Route("POST", _TERMS, create_term, _WRITE, status=201, idempotent=True, faults=new_term_faults),
    Route("GET", _TERM, show_term, _READ),
    Route("PATCH", _TERM, change_term, _WRITE, faults=term_faults),
    Route("DELETE", _TERM, delete_term, _WRITE),
    Route("GET", _TAGS, list_tags, _READ_ORDERS),
    Route("POST", _TAGS, create_tag, _WRITE_ORDERS, status=201, idempotent=True),
    Route("GET", _TAG, show_tag, _READ_ORDERS),
    Route("PATCH", _TAG, change_tag, _WRITE_ORDERS),
    Route("DELETE", _TAG, delete_tag, _WRITE_ORDERS),
)
