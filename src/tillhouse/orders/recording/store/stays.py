"""The lock of the stay that an order is charged to."""

from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId


async def lock_stay(db: Db, book_id: BookId, reservation_id: UUID) -> None:
    """Lock a stay against its end and uses of its money; others may charge it."""
    await db.execute(
        "SELECT FROM hotel_reservations WHERE book_id = $1 AND id = $2 FOR SHARE",
        book_id,
        reservation_id,
    )
