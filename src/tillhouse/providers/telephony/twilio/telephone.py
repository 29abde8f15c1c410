"""The Twilio telephone: its lines, the streams of their sound, and its callbacks."""

import asyncio
import secrets
from typing import Literal
from uuid import UUID

from tillhouse.providers.payments.provider import NotReached, Unclear
from tillhouse.providers.telephony.line_sound import EndedLine
from tillhouse.providers.telephony.provider import (
    Capability,
    Dial,
    LineEnded,
)
from tillhouse.providers.telephony.twilio import hooks, results
from tillhouse.providers.telephony.twilio.answers import FINAL, SeenCall
from tillhouse.providers.telephony.twilio.line import REAL, TwilioLine, TwilioTiming
from tillhouse.providers.telephony.twilio.media_server import MediaServer
from tillhouse.providers.telephony.twilio.plan import TwilioPlan, plan
from tillhouse.providers.telephony.twilio.rest import Denied, Rest, TooMany

_UNANSWERED = ("queued", "initiated", "ringing")


class TwilioTelephone:
    """Dials by Twilio; all calls of a process share one, and its media server.

    Callbacks may reach another process: it keeps them, and this one hands them to `tell`. Without
    any, lines ask Twilio every second.
    """

    name: Literal["twilio"] = "twilio"
    capabilities: frozenset[Capability] = frozenset({"audio", "finds_outcomes"})

    def __init__(
        self,
        media: MediaServer,
        media_url: str,
        rest: Rest | None = None,
        timing: TwilioTiming = REAL,
    ) -> None:
        self._media, self._media_url = media, media_url.rstrip("/")
        self._rest, self._timing = rest or Rest(), timing
        self._lines: dict[UUID, TwilioLine] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def dial(self, dial: Dial) -> TwilioLine | EndedLine:
        """Begin an attempt."""
        token = secrets.token_urlsafe(32)
        planned = plan(dial, f"{self._media_url}/{token}")
        if planned is None:
            why = "the number has no account at Twilio"
            return EndedLine(
                LineEnded(result="trunk_auth", ended_by="system", detail=why, may_retry=False)
            )
        try:
            await self._media.start()
        except OSError as error:
            why = f"the port for sound can't be opened: {error.strerror}"
            return EndedLine(
                LineEnded(result="provider_unavailable", ended_by="system", detail=why)
            )
        line = TwilioLine(self._rest, dial, planned, self._timing)
        self._lines[dial.attempt_id] = line
        self._media.expect(token, line)
        task = asyncio.create_task(self._run(line, dial.attempt_id, token))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return line

    async def _run(self, line: TwilioLine, attempt_id: UUID, token: str) -> None:
        try:
            await line.run()
        finally:
            self._media.forget(token)
            self._lines.pop(attempt_id, None)

    def tell(self, attempt_id: UUID, told: bytes) -> None:
        """Hand a callback to its line, if it is one of this process."""
        line, update = self._lines.get(attempt_id), hooks.parse(told)
        if line is not None and update is not None:
            line.tell(update)

    async def find_outcome(self, dial: Dial) -> LineEnded | None:
        """The end of an attempt, which is brought about where it goes on without anybody."""
        planned = plan(dial, "")
        if planned is None:
            return None
        try:
            found = await planned.find(self._rest)
            if len(found) != 1:
                return None
            seen = await self._end(dial, planned, found[0])
        except (Denied, TooMany, NotReached, Unclear):
            return None
        return None if seen is None else _outcome(seen)

    async def _end(self, dial: Dial, planned: TwilioPlan, seen: SeenCall) -> SeenCall | None:
        """The call once it is over; None where it doesn't end."""
        for _ in range(self._timing.looks):
            if seen.status in FINAL:
                return seen
            wanted = "canceled" if seen.status in _UNANSWERED else "completed"
            try:
                seen = await self._rest.end(planned.credentials, seen.sid, wanted)
            except (Denied, Unclear):
                await dial.clock.sleep(self._timing.ask_every_s)
                seen = await self._rest.fetch(planned.credentials, seen.sid)
        return None

    async def close(self) -> None:
        """End all lines."""
        for line in tuple(self._lines.values()):
            await line.hang_up()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._timing.gives_up.total_seconds())
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._media.close()


def _outcome(seen: SeenCall) -> LineEnded:
    if seen.status == "completed":
        return LineEnded(result="media_lost", ended_by="system", detail="its process ended")
    if seen.status == "canceled":
        return LineEnded(result="cancelled", ended_by="system", detail="its process ended")
    return results.unanswered(seen.status, error_code=None, sip_status=None, words="")
