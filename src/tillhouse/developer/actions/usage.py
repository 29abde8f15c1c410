"""The usage of the API, read."""

from datetime import timedelta

from tillhouse.access.call import Call
from tillhouse.developer.store import usage as store
from tillhouse.developer.types import UsageFilter, UsageRecord


async def show_usage(call: Call, wanted: UsageFilter) -> list[UsageRecord]:
    """Usage per day, route and class of status; what this process counted until now included."""
    await call.services.usage.flush()
    since = call.now.date() - timedelta(days=wanted.days - 1)
    return await store.list_usage(call.db, call.user.books.all(), since, wanted.developer_app_id)
