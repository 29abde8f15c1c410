"""The errors of a database that is away or asks to try again, and the answer to them."""

import asyncpg
import structlog

from tillhouse.db.connecting import DATABASE_HEALTH
from tillhouse.http.exchange import Exchange
from tillhouse.kit.errors import Unavailable

log = structlog.get_logger()

_FULL = "Nothing can be written at this moment, for lack of room: try again later. Reading goes on."
_FULL_AGAIN_S = 30

TRY_AGAIN = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.InvalidCachedStatementError,
)
DATABASE_AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.LockNotAvailableError,
    OSError,
)


def away(error: BaseException, exchange: Exchange) -> Unavailable:
    """The answer when the database is gone, or has no room; the log says why, once."""
    is_told = DATABASE_HEALTH.is_told(error) or DATABASE_HEALTH.is_away
    (log.debug if is_told else log.warning)(
        "database_error",
        request_id=exchange.request_id,
        error=type(error).__name__,
        detail=str(error)[:200],
    )
    if isinstance(error, asyncpg.DiskFullError):
        return Unavailable(_FULL, retry_after_s=_FULL_AGAIN_S)
    return Unavailable(retry_after_s=1)
