"""Statements that read what rules need to know of a business."""

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId


async def find_time_zone(db: Db, business_id: BusinessId) -> str:
    """The zone of a business's day."""
    return await db.fetchval("SELECT time_zone FROM businesses WHERE id = $1", business_id)
