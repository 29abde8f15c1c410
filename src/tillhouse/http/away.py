"""The errors of a database that is away or asks to try again, and the answer to them."""

import asyncpg
import structlog

from tillhouse.http.exchange import Exchange
from tillhouse.kit.errors import Unavailable

log = structlog.get_logger()

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
    """The answer when the database is gone; the log says why."""
    log.warning(
        "database_away",
        request_id=exchange.request_id,
        error=type(error).__name__,
        detail=str(error)[:200],
    )
    return Unavailable(retry_after_s=1)
