"""The books of a business that a command names."""

from tillhouse.access.callers import Books
from tillhouse.accounts.store import list_books
from tillhouse.cli.output import NoBusiness
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId


async def books_of(db: Db, business_id: BusinessId) -> Books:
    """Both of them, or the refusal that there is no such business."""
    found = {row["environment"]: row["id"] for row in await list_books(db, business_id)}
    if not found:
        raise NoBusiness(business_id)
    return Books(**found)
