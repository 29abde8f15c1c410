"""The limits that connections are opened with, and the errors of a server that is away.

Last the state of the database as the log of this process told it: a line for each change. An outage
meets every worker, request and pool at once. The first of them tells of it, and the first
connection afterwards tells that it is over; the lines between would say nothing more.
"""

import time
from collections.abc import Mapping

import asyncpg
import structlog

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

# Errors of a server that is leaving or can't be reached; one statement that was ended is none.
GONE = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
)
# A connection that was idle may be dead and not know it yet.
_SETTLED_S = 1.0
# On a full disk writes that need no new page still succeed.
_FULL_FOR_S = 10.0
FULL = "the disk of the database is full: reads go on, writes are refused until there is room"

log = structlog.get_logger()


async def connect_alone(
    url: str, settings: Mapping[str, str] | None = None, timeout_s: int = CONNECT_TIMEOUT_S
) -> asyncpg.Connection:
    """One connection with these settings, outside of a pool."""
    connection = await asyncpg.connect(url, server_settings=dict(settings or {}), timeout=timeout_s)
    await read_plain_numbers(connection)
    return connection


async def read_plain_numbers(connection: asyncpg.Connection) -> None:
    """Take numerics as PostgreSQL writes them; nothing is sent for that.

    The driver reads the binary form of 20000, which holds no trailing zeros, as `2E+4`. A composite
    row can't hold a numeric then: no statement answers one.
    """
    await connection.set_builtin_type_codec(
        "numeric", schema="pg_catalog", codec_name="numeric", format="text"
    )


class DatabaseHealth:
    """Whether the database is away, and whether its disk is full, as far as this process knows."""

    def __init__(self) -> None:
        self._away_since_s: float | None = None
        self._is_silent = False
        self._back_at_s = 0.0
        self._full_since_s: float | None = None
        self._full_at_s = 0.0

    @property
    def is_away(self) -> bool:
        """Whether it could not be reached, and has not answered since."""
        return self._away_since_s is not None

    @property
    def is_full(self) -> bool:
        """Whether its disk was full, and nothing says that there is room again."""
        return self._full_since_s is not None

    def note_away(self, error: BaseException, detail: str | None = None) -> None:
        """Tell that the database is away, if it was there."""
        if self._away_since_s is None:
            self._away_since_s = time.monotonic()
            detail = str(error)[:200] if detail is None else detail
            log.warning("database_away", error=type(error).__name__, detail=detail)

    def note_silent(self, error: BaseException, since_s: float) -> None:
        """Tell that the database has confirmed nothing since then, not even a statement's end.

        One that was asked before the database was back tells of the outage that is over.
        """
        if since_s >= self._back_at_s:
            self._is_silent = True
            self.note_away(error, "the server answers nothing")

    def note_connected(self, *, is_new: bool) -> None:
        """Tell that it is back, if it was away; while it is silent, only a new one says so."""
        if self._away_since_s is None:
            return
        is_settled = time.monotonic() - self._away_since_s > _SETTLED_S
        if is_new or (is_settled and not self._is_silent):
            self.note_answered()

    def note_answered(self) -> None:
        """Tell that it is back, if it was away: it has answered."""
        if self._away_since_s is None:
            return
        self._back_at_s = time.monotonic()
        after_s = self._back_at_s - self._away_since_s
        self._away_since_s, self._is_silent = None, False
        log.warning("database_back", after_s=round(after_s, 1))

    def note_full(self, error: BaseException) -> None:
        """Tell that the disk of the database is full, if it was not."""
        self._full_at_s = time.monotonic()
        if self._full_since_s is None:
            self._full_since_s = self._full_at_s
            log.error("database_disk_full", message=FULL, detail=str(error)[:200])

    def note_written(self) -> None:
        """Tell that there is room again, if the disk was full until some seconds ago."""
        if self._full_since_s is not None and time.monotonic() - self._full_at_s > _FULL_FOR_S:
            after_s = time.monotonic() - self._full_since_s
            self._full_since_s = None
            log.warning("database_disk_has_room", after_s=round(after_s, 1))

    def is_told(self, error: BaseException) -> bool:
        """Note the error of a statement; whether the log has a line for it already."""
        if isinstance(error, asyncpg.DiskFullError):
            self.note_full(error)
            return True
        if isinstance(error, GONE):
            self.note_away(error)
            return True
        return self.is_away and isinstance(error, AWAY)


DATABASE_HEALTH = DatabaseHealth()
"""That of the database of this process; it decides about log lines, and nothing else."""
