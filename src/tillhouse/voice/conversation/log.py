"""The log of a conversation: each step as it ends, kept while the conversation goes on."""

from datetime import datetime

import msgspec

from tillhouse.access.process import Services
from tillhouse.kit.ids import BookKey
from tillhouse.providers.telephony.provider import Clock
from tillhouse.voice.calls.types import TurnRole
from tillhouse.voice.conversation import store

TEXT_LENGTH_MAX = 2_000


class StepLog:
    """Gathers the steps of one attempt, and writes them."""

    def __init__(self, services: Services, clock: Clock, key: BookKey, attempt: int) -> None:
        self._services = services
        self._clock = clock
        self._key = key
        self._attempt = attempt
        self._answered_at = clock.now()
        self._steps: list[store.StepRow] = []
        self._written = 0

    def add(
        self,
        role: TurnRole,
        text: str,
        began: datetime,
        ended: datetime,
        confidence: float | None = None,
    ) -> None:
        """Note a step."""
        self._steps.append(
            store.StepRow(
                position=self._written + len(self._steps) + 1,
                role=role,
                text=text[:TEXT_LENGTH_MAX],
                started_ms=self._since_answer(began),
                ended_ms=self._since_answer(ended),
                confidence=confidence,
            )
        )

    async def write(self) -> None:
        """Keep the steps so far."""
        steps, self._steps = self._steps, []
        if steps:
            self._written += len(steps)
            async with self._services.pool.transaction() as db:
                await store.insert_steps(db, self._key, self._attempt, steps)

    def _since_answer(self, moment: datetime) -> int:
        return round((moment - self._answered_at).total_seconds() * 1000)


class Spoken(msgspec.Struct, frozen=True):
    """The result of a conversation."""

    outcome: str
    data: dict[str, str]
    has_opted_out: bool = False
    # The end that the agent gave it, such as silence; None: an ordinary one.
    end: str | None = None
    # In a sentence or two; None: there is nothing to tell.
    summary: str | None = None
    # A machine has answered.
    is_machine: bool = False
