"""The sentences of a failed command; imported when one fails."""

import asyncpg

from tillhouse.cli.output import CommandError
from tillhouse.db.archive import ArchiveError
from tillhouse.db.cluster import EmbeddedError
from tillhouse.db.migrate import MigrationError
from tillhouse.kit.errors import Problem
from tillhouse.settings import SettingError

_SENTENCES = (CommandError, SettingError, ArchiveError, EmbeddedError, MigrationError, Problem)


def sentence_for(error: Exception) -> str | None:
    """The sentence, or None: then the fault is ours, and the trace has to be seen."""
    if isinstance(error, _SENTENCES):
        return str(error)
    if isinstance(error, (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        return f"The database or the system failed ({error}): try again."
    return None
