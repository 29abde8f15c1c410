"""Logs: JSON lines with request ids, never a secret."""

import logging
import os
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any

import msgspec
import structlog

from tillhouse.access.callers import KeyCaller, UserCaller
from tillhouse.http.exchange import Exchange
from tillhouse.kit.clock import iso, now

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_ERRORS_FROM = 500


def set_up(level: str) -> None:
    """Send the log of this process to standard error, one JSON object a line."""
    logging.basicConfig(level=_LEVELS[level], handlers=[_Library()], force=True)
    # Libraries warn of data that they couldn't hand over: of a request we tell ourselves.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    # Its pools warn, with a traceback, of each try to reach a database that is away: we say so.
    logging.getLogger("asyncpg").setLevel(logging.ERROR)
    logging.captureWarnings(capture=True)
    sys.excepthook = _uncaught
    threading.excepthook = lambda told: _uncaught(
        told.exc_type, told.exc_value or told.exc_type(), told.exc_traceback
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            _time,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=_serialise),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=lambda *_: _Lines(),
        cache_logger_on_first_use=False,
    )


def _uncaught(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Tell of an error that ends a process or a thread, in one line as well."""
    if issubclass(kind, (KeyboardInterrupt, SystemExit)):
        return
    about = (kind, error, traceback)
    logging.getLogger("tillhouse").critical("uncaught: %s", error, exc_info=about)


class _Lines:
    """The log that takes finished lines; each level is a method, as structlog calls them."""

    def msg(self, line: str) -> None:
        """Write one line."""
        write_line(line.encode())

    debug = info = warning = warn = error = critical = exception = log = msg


class _Library(logging.Handler):
    """The log of libraries, as lines like ours."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line, a traceback within it."""
        line: dict[str, Any] = {
            "time": iso(now()),
            "level": record.levelname.lower(),
            "event": record.getMessage().strip(),
            "logger": record.name,
        }
        if record.exc_info:
            line["exception"] = logging.Formatter().formatException(record.exc_info)
        write_line(_serialise(line).encode())


def write_line(line: bytes) -> None:
    """Write a line to standard error; a blocked log stops no request."""
    with suppress(OSError):
        os.write(2, line + b"\n")


def _time(_logger: object, _name: str, event: structlog.typing.EventDict) -> dict[str, Any]:
    return {"time": iso(now()), **event}


def _serialise(event: object, **_: object) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode()


class LogLine(msgspec.Struct):
    """One answered request: the route's template, so that no id or query is told."""

    time: str
    level: str
    event: str
    request_id: str
    method: str
    route: str
    status: int
    took_ms: float
    ip: str
    business_id: str | None
    caller: str | None


class AccessLog:
    """A line per request, written without the detour through processors: it is the hot path."""

    def __init__(self, level: str) -> None:
        self._level = _LEVELS[level]
        self._encode = msgspec.json.Encoder().encode

    def write(self, exchange: Exchange, template: str, status: int, took_s: float) -> None:
        """Tell of one answered request."""
        level = "error" if status >= _ERRORS_FROM else "info"
        if _LEVELS[level] < self._level:
            return
        line = LogLine(
            iso(exchange.now),
            level,
            "request",
            exchange.request_id,
            exchange.method,
            template,
            status,
            round(took_s * 1000, 2),
            exchange.ip,
            str(exchange.caller.business_id) if exchange.caller else None,
            _name(exchange.caller),
        )
        write_line(self._encode(line))


def _name(caller: KeyCaller | UserCaller | None) -> str | None:
    match caller:
        case KeyCaller():
            return f"key {caller.key_id}"
        case UserCaller():
            return f"user {caller.user_id}"
        case None:
            return None
