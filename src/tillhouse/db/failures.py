"""The exceptions of a server that is away, and of a connection that died."""

import asyncpg

from tillhouse.kit.errors import Unavailable

# Errors that a statement raises when the server is away, leaving or coming back. With the internal
# error asyncpg refuses a connection on which the server has said farewell between two statements.
FAILURES = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
)
# Errors of a connection whose server process is gone.
LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
)
# Errors of a server that takes no connections.
CANNOT_CONNECT = (asyncpg.CannotConnectNowError, OSError)
# Errors of a server that is away or leaving, and may be back soon.
AWAY = (
    *CANNOT_CONNECT,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InterfaceError,
    Unavailable,
)
