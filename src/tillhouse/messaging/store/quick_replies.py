"""The table of quick replies: texts that are sent often, by a short word."""

from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.messaging.types import QuickReply

QUICK_REPLIES = BookTable(
    "quick_replies r",
    QuickReply,
    shown="r.shortcut, r.text",
    order="r.shortcut",
    fields=("shortcut", "text"),
    removed=True,
)


async def find_by_shortcut(db: Db, book_id: BookId, shortcut: str) -> str | None:
    """The text of a shortcut."""
    return await db.fetchval(
        "SELECT text FROM quick_replies WHERE book_id = $1 AND shortcut = $2", book_id, shortcut
    )
