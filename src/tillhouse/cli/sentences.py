"""The sentences of a failed command; imported when one fails, and by those that keep a log."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
import structlog
import typer

from tillhouse.cli.output import CommandError
from tillhouse.db.archive import ArchiveError
from tillhouse.db.cluster import EmbeddedError
from tillhouse.db.migrate import MigrationError
from tillhouse.http import log as logs
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


@contextmanager
def told_in_the_log() -> Iterator[None]:
    """Let a command that keeps a log tell there why it fails, unless a person reads it."""
    logs.set_up("info")
    try:
        yield
    except Exception as error:
        sentence = sentence_for(error)
        if sentence is None or sys.stderr.isatty():
            raise
        structlog.get_logger().critical("failed", message=sentence)
        raise typer.Exit(1) from None
