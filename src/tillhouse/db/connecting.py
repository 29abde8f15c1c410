"""How connections are opened, with the limits of each session; and the errors of a server away."""

from collections.abc import Mapping

import asyncpg

from tillhouse.kit.errors import Unavailable

# Limits that every connection carries: a stuck statement or lock ends before its caller gives up.
SESSION_SETTINGS = {
    "application_name": "tillhouse",
    "timezone": "UTC",
    "statement_timeout": "13s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "30s",
}
# A command of the operator looks at whole books: only a lock or an idle transaction ends it.
PATIENT = {"statement_timeout": "0"}
# A write goes to its rows by their keys, whatever the values are, so its plans are kept: PostgreSQL
# would plan some of them anew each time, which costs more than running them. Reads are left alone.
KEPT_PLANS = {"plan_cache_mode": "force_generic_plan"}
# A batched statement waits for no lock: each of its requests can still wait alone.
FAIL_FAST = {"lock_timeout": "100ms"}
# A statement that the server had to end long ago was sent into a connection that is dead, or to a
# server that has stopped: its caller, and all that wait behind it, hear so within 20 seconds.
ANSWERED_WITHIN_S = 15.0
CONNECT_TIMEOUT_S = 5
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


class _Connection(asyncpg.Connection):
    """A pooled connection without the reset round trip: our sessions change no setting."""

    def get_reset_query(self) -> str:
        return ""

    async def reset(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the driver's
        # Listeners and settings are never of a pooled connection; to look for them takes a timer.
        if self.is_in_transaction():
            await super().reset(timeout=timeout)


async def connect_alone(
    url: str, settings: Mapping[str, str] | None = None, timeout_s: int = CONNECT_TIMEOUT_S
) -> asyncpg.Connection:
    """One connection with these settings, outside of a pool."""
    connection = await asyncpg.connect(url, server_settings=dict(settings or {}), timeout=timeout_s)
    await _read_plain_numbers(connection)
    return connection


async def _read_plain_numbers(connection: asyncpg.Connection) -> None:
    """Take numerics as PostgreSQL writes them; nothing is sent for that.

    The driver reads the binary form of 20000, which holds no trailing zeros, as `2E+4`. A composite
    row can't hold a numeric then: no statement answers one.
    """
    await connection.set_builtin_type_codec(
        "numeric", schema="pg_catalog", codec_name="numeric", format="text"
    )


async def connect(url: str, size: int, given: Mapping[str, str]) -> asyncpg.Pool:
    """Connections with these settings beside the usual ones."""
    settings = {**SESSION_SETTINGS, **given}
    return await asyncpg.create_pool(
        url,
        min_size=1,
        max_size=size,
        connection_class=_Connection,
        init=_read_plain_numbers,
        server_settings=settings,
        timeout=CONNECT_TIMEOUT_S,
        command_timeout=None if settings["statement_timeout"] == "0" else ANSWERED_WITHIN_S,
        # The longest statements are those that most need to be kept.
        max_cacheable_statement_size=0,
        max_inactive_connection_lifetime=300,
    )
