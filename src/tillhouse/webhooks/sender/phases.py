"""Where the time of an attempt goes: to the name, to the connection, to the receiver's answer."""

import time
from typing import Any

import aiohttp
import msgspec


class Phases(msgspec.Struct):
    """The moments of one attempt, as its client passes them."""

    began: float = 0.0
    asked: float = 0.0
    resolved: float = 0.0
    dialled: float = 0.0
    connected: float = 0.0
    answered: float = 0.0
    # The request went over a connection that an earlier one had left open.
    is_kept: bool = False

    def in_ms(self) -> dict[str, int]:
        """Milliseconds by phase; 0 for what a kept connection or a remembered name spared."""
        named = self.resolved - self.asked
        connected = self.connected - self.dialled - named if self.connected else 0.0
        waited = self.answered - (self.connected or self.began) if self.answered else 0.0
        return {
            "resolve": round(named * 1000),
            "connect": round(connected * 1000),
            "answer": round(waited * 1000),
        }


def tracing() -> aiohttp.TraceConfig:
    """Makes a client note the moments of each request in the `Phases` that it is given."""
    config = aiohttp.TraceConfig()
    config.on_dns_resolvehost_start.append(_marks("asked"))
    config.on_dns_resolvehost_end.append(_marks("resolved"))
    config.on_connection_create_start.append(_marks("dialled"))
    config.on_connection_create_end.append(_marks("connected"))
    config.on_connection_reuseconn.append(_note_kept)
    return config


def _marks(name: str) -> Any:
    async def mark(_session: aiohttp.ClientSession, context: Any, _params: object) -> None:
        setattr(context.trace_request_ctx, name, time.perf_counter())

    return mark


async def _note_kept(_session: aiohttp.ClientSession, context: Any, _params: object) -> None:
    context.trace_request_ctx.is_kept = True
