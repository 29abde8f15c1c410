"""The usage of the API, read."""

from datetime import timedelta
from typing import get_args

from tillhouse.access.call import Call
from tillhouse.developer.store import usage as store
from tillhouse.developer.types import BookStorage, UsageFilter, UsageRecord
from tillhouse.kit.secrets import Environment


async def show_usage(call: Call, wanted: UsageFilter) -> list[UsageRecord]:
    """Usage per day, route and class of status; the counts of this process included."""
    await call.services.usage.flush()
    since = call.now.date() - timedelta(days=wanted.days - 1)
    return await store.list_usage(call.db, call.user.books.all(), since, wanted.developer_app_id)


async def list_storage(call: Call) -> list[BookStorage]:
    """The counts of both environments, of each kind that can be limited."""
    books = call.user.books
    found: list[BookStorage] = []
    for kind in call.services.storage.kinds:
        limits = kind.limits(call.services.settings)
        held = {one.book_id: one for one in await kind.list_books(call.db, books.all())}
        for environment in get_args(Environment):
            one = held.get(books.of(environment))
            found.append(
                BookStorage(
                    environment=environment,
                    kind=kind.name,
                    stored_rows=one.rows if one else 0,
                    stored_bytes=one.bytes if one else 0,
                    rows_max=limits.rows or None,
                    bytes_max=limits.bytes or None,
                )
            )
    return found
