"""The call that tools are used in, and the result of one."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.access.callers import Book
from tillhouse.kit.ids import BookKey, BusinessId, OrderId
from tillhouse.voice.agents.types import Script


class CallSubject(msgspec.Struct, frozen=True, kw_only=True):
    """The call that an agent's tools are used in."""

    call: BookKey
    business_id: BusinessId
    book: Book
    phone: str
    order_id: OrderId | None
    reservation_id: UUID | None
    context: str
    agent_name: str
    script: Script
    tools: frozenset[str]
    # The customer's last words that were heard; keys are none.
    heard: str = ""

    def after(self, used: "Used") -> "CallSubject":
        """The call as the next tool finds it: about its present subject, and nothing else."""
        return msgspec.structs.replace(
            self,
            order_id=used.order_id or self.order_id,
            reservation_id=used.reservation_id or self.reservation_id,
            heard="" if used.has_noted_words else self.heard,
        )


class Used(msgspec.Struct, frozen=True):
    """The result of a tool: its line in the transcript, and words for the script."""

    is_done: bool
    told: str
    words: dict[str, str] = {}
    # The order or the stay that was found, which the next tools are about.
    order_id: OrderId | None = None
    reservation_id: UUID | None = None
    # The customer's words were noted, and are not noted again.
    has_noted_words: bool = False


class Did(msgspec.Struct, frozen=True):
    """The result of a tool's transaction, and the work that its commit leaves."""

    used: Used
    after: Callable[[], Awaitable[Any]] | None = None
