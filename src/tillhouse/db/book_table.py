"""The statements of a plain table of a book, composed of its declaration.

Its rows are found by id, shown in one order, written field by field, and removed or taken out of
lists. Other statements on a table stand beside it in its store, written out.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, LiteralString, TypeVar, cast
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.page import Page, PageOf, meta

Row = TypeVar("Row")
Fields = msgspec.Struct | Sequence[Any]
_BY_KEY: LiteralString = " WHERE book_id = $1 AND id = $2"
_NO_FORMS: Mapping[str, LiteralString] = {}


class BookTable(Generic[Row]):
    """A plain table; `of` names it with its alias, as `academic_terms t`.

    `shown` are the columns of an answer beside its id and moments, `order` is the order of lists,
    `fields` are written when a row is made and when it changes, `made_with` only when it is made;
    a struct stands for its fields, as a type for columns and as a value for their content.
    `forms` tells how a value is read that isn't the column's own (`{0}::text::jsonb`), `filters`
    how a list is narrowed down. A row that is `removed` leaves no trace; others keep a
    `deleted_at`.
    """

    def __init__(  # noqa: PLR0913 - a declaration, of which most is left out
        self,
        of: LiteralString,
        row: Callable[..., Row],
        *,
        shown: LiteralString,
        order: LiteralString,
        fields: tuple[LiteralString, ...] | type[msgspec.Struct],
        made_with: tuple[LiteralString, ...] = (),
        forms: Mapping[str, LiteralString] = _NO_FORMS,
        joins: LiteralString = "",
        filters: Mapping[str, LiteralString] = _NO_FORMS,
        lock: LiteralString = "NO KEY UPDATE",
        removed: bool = False,
    ) -> None:
        name, _, alias = of.partition(" ")
        self.name, self.row, self.filters = name, row, filters
        self.made_with, self.fields, self.removed = made_with, _names(fields), removed
        mine = (
            alias + ".book_id = $1" + ("" if removed else " AND " + alias + ".deleted_at IS NULL")
        )
        self._rows: LiteralString = " FROM " + of + " WHERE " + mine
        self._select: LiteralString = (
            "SELECT " + alias + ".id, " + shown  # noqa: S608
            + ", iso(" + alias + ".created_at) AS created_at, iso(" + alias + ".updated_at) "
            "AS updated_at FROM " + of + " " + joins + " WHERE " + mine
        )  # fmt: skip
        self._one: LiteralString = " AND " + alias + ".id = $2"
        self._order: LiteralString = " ORDER BY " + order + " LIMIT "
        self._lock: LiteralString = " FOR " + lock + " OF " + alias
        self._insert: LiteralString = _insert(name, self.made_with + self.fields, forms)
        self._update: LiteralString = _update(name, self.fields, forms)
        self._delete: LiteralString = _delete(name, removed=removed)

    async def page(self, db: Db, book_id: BookId, page: Page, **filters: object) -> PageOf[Row]:
        """One page of the rows that fit, with their number; a first page that isn't full is all."""
        where = Where(book_id)
        for name, value in filters.items():
            where.and_(self.filters[name], value)
        fitting, args = where.sql(), tuple(where.args)
        rows = await db.fetch(
            self._select + fitting + self._order + where.window(page), *where.args
        )
        total = len(rows)
        if page.offset or total == page.per_page:
            total = await db.fetchval("SELECT count(*)" + self._rows + fitting, *args)
        return PageOf([self.row(**row) for row in rows], meta(page, total))

    async def count(self, db: Db, book_id: BookId) -> int:
        """How many rows there are."""
        return await db.fetchval("SELECT count(*)" + self._rows, book_id)

    async def show(self, db: Db, book_id: BookId, id_: UUID) -> Row | None:
        """One row."""
        row = await db.fetchrow(self._select + self._one, book_id, id_)
        return self.row(**row) if row else None

    async def lock(self, db: Db, book_id: BookId, id_: UUID) -> Row | None:
        """One row, locked against every other change until the transaction ends."""
        row = await db.fetchrow(self._select + self._one + self._lock, book_id, id_)
        return self.row(**row) if row else None

    async def has(self, db: Db, book_id: BookId, id_: UUID) -> bool:
        """Whether there is such a row."""
        return await db.fetchval(
            "SELECT EXISTS (SELECT" + self._rows + self._one + ")", book_id, id_
        )

    async def insert(
        self, db: Db, key: BookKey, fields: Fields, now: datetime, *made_with: object
    ) -> None:
        """A new row: its fields, and those that are set once."""
        await db.execute(self._insert, *key, *made_with, *_values(fields), now)

    async def update(self, db: Db, key: BookKey, fields: Fields, now: datetime) -> None:
        """The fields of a row, all of them."""
        await db.execute(self._update, *key, *_values(fields), now)

    async def delete(self, db: Db, key: BookKey, now: datetime) -> bool:
        """Remove a row or take it out of lists; whether there was one."""
        return await db.execute_one(self._delete, *key, *(() if self.removed else (now,)))


def _names(fields: tuple[LiteralString, ...] | type[msgspec.Struct]) -> tuple[LiteralString, ...]:
    names = fields if isinstance(fields, tuple) else fields.__struct_fields__
    return cast(tuple[LiteralString, ...], names)


def _values(fields: Fields) -> Sequence[Any]:
    return msgspec.structs.astuple(fields) if isinstance(fields, msgspec.Struct) else fields


def _insert(
    table: LiteralString, names: tuple[LiteralString, ...], forms: Mapping[str, LiteralString]
) -> LiteralString:
    values = ", ".join(_value(name, number, forms) for number, name in enumerate(names, 3))
    now = _slot(len(names) + 3)
    columns = "(book_id, id, " + ", ".join(names) + ", created_at, updated_at)"
    row = "($1, $2, " + values + ", " + now + ", " + now + ")"
    return "INSERT INTO " + table + " " + columns + " VALUES " + row  # noqa: S608


def _update(
    table: LiteralString, names: tuple[LiteralString, ...], forms: Mapping[str, LiteralString]
) -> LiteralString:
    changes = ", ".join(
        name + " = " + _value(name, number, forms) for number, name in enumerate(names, 3)
    )
    now = ", updated_at = " + _slot(len(names) + 3)
    return "UPDATE " + table + " SET " + changes + now + _BY_KEY  # noqa: S608


def _delete(table: LiteralString, *, removed: bool) -> LiteralString:
    if removed:
        return "DELETE FROM " + table + _BY_KEY  # noqa: S608
    gone: LiteralString = " SET deleted_at = $3, updated_at = $3"
    return "UPDATE " + table + gone + _BY_KEY + " AND deleted_at IS NULL"


def _value(name: LiteralString, number: int, forms: Mapping[str, LiteralString]) -> LiteralString:
    form: LiteralString = forms.get(name, "{0}")
    return form.format(_slot(number))


def _slot(number: int) -> LiteralString:
    return cast(LiteralString, f"${number}")
