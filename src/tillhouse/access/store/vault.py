"""Statements on wrapped keys."""

from collections.abc import Sequence

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId


async def insert_root(db: Db, master_version: int, wrapped: bytes) -> None:
    """Keep the root of a new installation; an older one stays."""
    await db.execute(
        """INSERT INTO installation (master_version, wrapped_root) VALUES ($1, $2)
        ON CONFLICT DO NOTHING""",
        master_version,
        wrapped,
    )


async def find_root(db: Db) -> Record | None:
    """The wrapped root."""
    return await db.fetchrow("SELECT master_version, wrapped_root FROM installation")


async def find_data_key(db: Db, business_id: BusinessId) -> Record | None:
    """The wrapped data key of a business."""
    return await db.fetchrow(
        "SELECT master_version, wrapped_data_key FROM businesses WHERE id = $1", business_id
    )


async def lock_old_data_keys(db: Db, newest: int, limit: int) -> Sequence[Record]:
    """Some businesses whose data key an older master key wraps."""
    return await db.fetch(
        """SELECT id, master_version, wrapped_data_key FROM businesses
        WHERE master_version < $1 ORDER BY id LIMIT $2 FOR NO KEY UPDATE""",
        newest,
        limit,
    )


async def update_data_key(db: Db, business_id: BusinessId, version: int, wrapped: bytes) -> None:
    """The data key of a business, wrapped anew."""
    await db.execute(
        "UPDATE businesses SET master_version = $2, wrapped_data_key = $3 WHERE id = $1",
        business_id,
        version,
        wrapped,
    )


async def update_root(db: Db, version: int, wrapped: bytes) -> None:
    """The root, wrapped anew."""
    await db.execute(
        "UPDATE installation SET master_version = $1, wrapped_root = $2", version, wrapped
    )
