"""Pages of plain things, such as stores and tables: their list, a form for each, and its end."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from tillhouse.desk.fields import number
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import Frame, frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.session.forms import Form
from tillhouse.desk.settings.sections import Section, sections_of

_PER_PAGE = 25
Data = Mapping[str, Any]


class Field(msgspec.Struct, frozen=True):
    """A field of a thing, named as in the body of its operations."""

    name: str
    sort: Literal["text", "number", "date", "time", "flag", "store", "zone", "tel"] = "text"
    is_required: bool = False
    # Whether an emptied field says nothing any more; else it stays as it was.
    is_cleared: bool = True
    # Whether the list has a column for it, and at which width that one leaves.
    column: Literal["", "c-2", "c-3", "c-4"] = ""
    has_hint: bool = False
    # The value that a new thing has there.
    at_first: str = ""

    @property
    def told(self) -> str:
        """Its name in answers."""
        first, *rest = self.name.split("_")
        return first + "".join(word.capitalize() for word in rest)


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of thing: its section, its operations, and its fields; the first is its name."""

    section: Section
    # The value in the address of one.
    key: str
    make: Operation
    one: Operation
    change: Operation
    delete: Operation
    fields: tuple[Field, ...]

    @property
    def name(self) -> str:
        """Its sentences in the catalogue."""
        return self.section.name

    @property
    def address(self) -> str:
        """The address of the list."""
        return self.section.address


def pages_of(kind: Kind) -> tuple[PageRoute, ...]:
    """The pages of a kind of thing."""

    async def show_list(page: PageRequest) -> Shown:
        return await _list(page, kind)

    async def show_new(page: PageRequest) -> Shown:
        page.check(kind.make)
        return await _form(page, kind, None)

    async def make(page: PageRequest) -> Onward:
        page.check(kind.make)
        body, key = _body(page.form, kind), page.form.get("idempotency_key")
        await page.act(kind.make, body=body, key=key)
        return Onward(kind.address)

    async def show_one(page: PageRequest) -> Shown:
        page.check(kind.change)
        found = await page.needed(kind.one, page.path[kind.key])
        return await _form(page, kind, found.data)

    async def change(page: PageRequest) -> Onward:
        page.check(kind.change)
        await page.act(kind.change, page.path[kind.key], body=_body(page.form, kind))
        return Onward(kind.address)

    async def delete(page: PageRequest) -> Onward:
        page.check(kind.delete)
        await page.act(kind.delete, page.path[kind.key])
        return Onward(kind.address)

    path = f"{kind.address}/{{{kind.key}}}"
    goal = Goal(f"settings.new.{kind.name}", (kind.make,), "action")
    return (
        PageRoute("GET", kind.address, show_list, goal=kind.section.goal),
        PageRoute("GET", f"{kind.address}/new", show_new, goal=goal),
        PageRoute("POST", f"{kind.address}/new", make, refused=show_new),
        PageRoute("GET", path, show_one),
        PageRoute("POST", path, change, refused=show_one),
        PageRoute("POST", f"{path}/delete", delete, refused=show_one),
    )


async def _list(page: PageRequest, kind: Kind) -> Shown:
    frame, query = await frame_of(page), page.request.query
    found = await page.needed(kind.section.operation, limit=_PER_PAGE, page=query.get("page"))
    first, *more = kind.fields
    columns = [field for field in more if field.column]
    rows = [
        (f"{kind.address}/{one['id']}", one[first.told],
         [(field.column, _words(field, one, frame)) for field in columns])
        for one in found.data
    ]  # fmt: skip
    facts: dict[str, Any] = {
        **_beside(page, kind, frame),
        "columns": [first, *columns],
        "rows": rows,
        "pager": pager(kind.address, query, found.extra["meta"]),
        "may_make": page.may(kind.make),
        "may_change": page.may(kind.change),
    }
    return Shown("settings/list.html", facts)


async def _form(page: PageRequest, kind: Kind, thing: Data | None) -> Shown:
    frame = await frame_of(page)
    # The button that deletes it sends none of its fields.
    is_typed = kind.fields[0].name in page.form
    facts: dict[str, Any] = {
        **_beside(page, kind, frame),
        "thing": thing,
        "title": thing[kind.fields[0].told] if thing else None,
        "fields": kind.fields,
        "values": page.form if is_typed else _values(kind, thing),
        "stores": _stores(frame, thing),
        "may_delete": page.may(kind.delete),
    }
    return Shown("settings/form.html", facts)


def _beside(page: PageRequest, kind: Kind, frame: Frame) -> dict[str, Any]:
    sections = sections_of(page, frame, kind.section)
    return {"sections": sections, "here": kind.section, "kind": kind}


def _stores(frame: Frame, thing: Data | None) -> list[tuple[str, str]]:
    """The stores that a form chooses from; its own is always one of them."""
    stores = [(one["id"], one["name"]) for one in frame.stores]
    own = thing.get("storeId") if thing else None
    return stores if own is None or own in dict(stores) else [*stores, (own, own)]


def _values(kind: Kind, thing: Data | None) -> dict[str, str]:
    if thing is None:
        return {field.name: field.at_first for field in kind.fields if field.at_first}
    return {
        field.name: "true" if value is True else str(value)
        for field in kind.fields
        if (value := thing[field.told]) not in (None, False)
    }


def _body(form: Form, kind: Kind) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for field in kind.fields:
        text = form.get(field.name, "")
        if field.sort == "flag":
            body[field.name] = field.name in form
        elif text:
            body[field.name] = number(text) if field.sort == "number" else text
        elif field.is_required:
            body[field.name] = ""
        elif field.is_cleared:
            body[field.name] = None
    return body


def _words(field: Field, thing: Data, frame: Frame) -> str:
    """A field in the words of the list."""
    value = thing[field.told]
    if field.sort == "flag":
        return sentence(f"settings.{'yes' if value else 'no'}")
    if field.sort == "store":
        return next((one["name"] for one in frame.stores if one["id"] == value), "")
    return "" if value is None else str(value)
