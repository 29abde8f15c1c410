"""A list as a page shows it: its filters in the address, and the way to its other pages."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec


class Pager(msgspec.Struct, frozen=True, kw_only=True):
    """Where in a list a page is, and the addresses of those beside it; None at the ends."""

    first: int
    last: int
    total: int
    before: str | None
    after: str | None


def pager(path: str, query: Mapping[str, str], meta: Mapping[str, Any]) -> Pager:
    """The way through a list, with its filters as they are."""
    page, per_page, total = meta["page"], meta["perPage"], meta["total"]
    first = (page - 1) * per_page + 1
    return Pager(
        first=min(first, total),
        last=min(first + per_page - 1, total),
        total=total,
        before=address(path, {**query, "page": str(page - 1)}) if page > 1 else None,
        after=address(path, {**query, "page": str(page + 1)}) if meta["hasMore"] else None,
    )


def views(
    path: str, queries: Mapping[str, Mapping[str, str]], query: Mapping[str, str]
) -> list[tuple[str, str, bool]]:
    """The views of a list, each a query with a name: name, address, and whether it is shown."""
    names = {name for view in queries.values() for name in view}
    return [
        (name, address(path, view), all(query.get(key, "") == view.get(key, "") for key in names))
        for name, view in queries.items()
    ]


def address(path: str, query: Mapping[str, str]) -> str:
    """An address with those parameters that say something."""
    said = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(said)}" if said else path
