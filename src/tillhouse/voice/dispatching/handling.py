"""Handles one call from its dial to its end, and writes each step as it happens."""

import asyncio
import contextlib
from datetime import datetime, timedelta
from uuid import UUID

import msgspec
import structlog

from tillhouse.access.process import Services
from tillhouse.db.connecting import FAILURES
from tillhouse.kit.errors import Unavailable
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.partial import facts_of
from tillhouse.providers.telephony.provider import (
    Answered,
    CallLine,
    Clock,
    Dial,
    LineEnded,
    Ringing,
    TakesCallbacks,
    Telephone,
)
from tillhouse.voice.conversation.log import Spoken
from tillhouse.voice.dispatching import rules
from tillhouse.voice.dispatching.claiming import LEASE, Intent
from tillhouse.voice.dispatching.ending import tell_end, tell_start
from tillhouse.voice.dispatching.store import handling as store
from tillhouse.voice.dispatching.store.handling import AttemptEnd, CallEnd
from tillhouse.voice.dispatching.talking import AnsweredCall, Means, talk_on
from tillhouse.voice.hooks.pages import callback_url
from tillhouse.voice.recordings import pages
from tillhouse.voice.recordings.recorder import (
    CallRecorder,
    RecordedFile,
    recording_name,
    recordings_folder,
)
from tillhouse.voice.recordings.store import RecordingRow, insert_recording
from tillhouse.voice.suppression.store import SuppressionRow, insert_suppression

# A conversation whose line is over hears of it at once, and has this long for its last writes.
_CONVERSATION_ENDS_S = 5.0
_DETAIL_LENGTH_MAX = 200
_WRITTEN_AGAIN_S = 0.5
TROUBLE = (*FAILURES, Unavailable)
"""The errors of a database that is away."""

log = structlog.get_logger()

_NO_TELEPHONE = LineEnded(
    result="provider_unavailable",
    ended_by="system",
    detail="this installation has no such provider",
    may_retry=False,
)


class Handling:
    """One attempt of one call, in this process."""

    def __init__(
        self,
        services: Services,
        clock: Clock,
        telephone: Telephone | None,
        intent: Intent,
        means: Means,
    ) -> None:
        self._services = services
        self._clock = clock
        self._telephone = telephone
        self._intent = intent
        self._means = means
        self._call = intent.call
        self._line: CallLine | None = None
        self._conversation: asyncio.Task[Spoken] | None = None
        self._answered_at: datetime | None = None
        self._answered_by = "unknown"
        self._is_interrupted = False
        self._recorder: CallRecorder | None = None
        if self._call.is_recording:
            folder = recordings_folder(services.settings)
            self._recorder = CallRecorder(folder / recording_name(self._call.key))

    @property
    def attempt(self) -> tuple[UUID, UUID]:
        """The attempt, by book and id."""
        return self._call.book_id, self._intent.attempt_id

    @property
    def hears_callbacks(self) -> bool:
        """Whether its provider may call back."""
        return isinstance(self._telephone, TakesCallbacks)

    def tell(self, told: bytes) -> None:
        """Hand on a callback of the provider."""
        if isinstance(self._telephone, TakesCallbacks):
            self._telephone.tell(self._intent.attempt_id, told)

    @property
    def held(self) -> tuple[BookKey, int]:
        """The call that is held, and by which generation."""
        return self._call.key, self._intent.generation

    async def run(self) -> None:
        """Dial, follow the line, and write its end."""
        ended = await self._follow()
        spoken = await self._spoken()
        file = None
        if self._recorder is not None:
            file = await asyncio.to_thread(self._recorder.close)
        await self._finish_in_time(ended, spoken, file)

    async def _finish_in_time(
        self, ended: LineEnded, spoken: Spoken | None, file: RecordedFile | None
    ) -> None:
        """Write the end, which a database that is away for a moment doesn't lose."""
        gives_up_at = asyncio.get_running_loop().time() + LEASE.total_seconds()
        while True:
            try:
                return await self._finish(ended, spoken, file)
            except TROUBLE as error:
                if asyncio.get_running_loop().time() >= gives_up_at:
                    raise
                log.warning("voice_end_delayed", call=str(self._call.id), error=str(error))
            await asyncio.sleep(_WRITTEN_AGAIN_S)

    async def hang_up(self, *, is_interrupted: bool = False) -> None:
        """End the line: the call was cancelled, is another worker's, or this process stops."""
        self._is_interrupted = self._is_interrupted or is_interrupted
        if self._line is not None:
            await self._line.hang_up()

    async def _follow(self) -> LineEnded:
        if self._telephone is None:
            return _NO_TELEPHONE
        try:
            self._line = await self._telephone.dial(self._dial())
            if self._is_interrupted:
                await self._line.hang_up()
            async for happening in self._line.events():
                match happening:
                    case Ringing(provider_call_id=name):
                        await self._ring(name)
                    case Answered():
                        await self._answer(self._line, happening)
                    case LineEnded():
                        return happening
        except Exception as error:
            # The line may have rung: another attempt could ring a second time.
            log.exception("voice_line_failed", call=str(self._call.id))
            with contextlib.suppress(Exception):
                await self.hang_up()
            return LineEnded(
                result="media_lost" if self._answered_at else "provider_unavailable",
                ended_by="system",
                detail=type(error).__name__,
                may_retry=False,
            )
        return LineEnded(result="network", ended_by="provider", detail="no end", may_retry=False)

    def _dial(self) -> Dial:
        call = self._call
        return Dial(
            attempt_id=self._intent.attempt_id,
            attempt=self._intent.attempt,
            to=call.customer_phone,
            from_number=call.phone_number,
            ring_within=timedelta(seconds=call.ring_timeout_s),
            talk_within=timedelta(seconds=call.max_duration_s),
            account=self._intent.account,
            clock=self._clock,
            recorder=self._recorder,
            callback_url=callback_url(
                self._services.settings, call.provider, call.book_id, self._intent.attempt_id
            ),
        )

    async def _ring(self, name: str | None) -> None:
        key, generation = self.held
        # It rings all the same where the database is away.
        with contextlib.suppress(*TROUBLE):
            async with self._services.pool.transaction() as db:
                await store.update_ringing(db, key, generation, name, self._clock.now())

    async def _answer(self, line: CallLine, answered: Answered) -> None:
        """Talk, unless the call was cancelled or taken meanwhile: then nothing is played."""
        key, generation = self.held
        at = self._clock.now()
        answer = (answered.answered_by, answered.provider_call_id)
        async with self._services.pool.transaction() as db:
            is_ours = await store.update_answered(db, key, generation, answer, at)
            if is_ours:
                await tell_start(db, self._call, at)
        if not is_ours:
            await line.hang_up()
            return
        self._answered_at, self._answered_by = at, answered.answered_by
        talking = AnsweredCall(
            self._call, self._intent.attempt, is_machine=self._answered_by == "machine"
        )
        self._conversation = asyncio.create_task(
            talk_on(self._services, self._clock, line, talking, self._means)
        )

    async def _spoken(self) -> Spoken | None:
        if self._conversation is None:
            return None
        ends_s = 0.0 if self._is_interrupted else _CONVERSATION_ENDS_S
        done, _ = await asyncio.wait({self._conversation}, timeout=ends_s)
        if done:
            return self._conversation.result()
        self._conversation.cancel()
        return Spoken("hung_up", {})

    async def _finish(
        self, ended: LineEnded, spoken: Spoken | None, file: RecordedFile | None
    ) -> None:
        """Write the end of the attempt, and of the call where no other attempt follows."""
        key, generation = self.held
        at = self._clock.now()
        end = facts_of(AttemptEnd, ended, detail=ended.detail[:_DETAIL_LENGTH_MAX] or None)
        async with self._services.pool.transaction() as db:
            number = self._intent.attempt
            status = await store.end_held(db, key, generation, number, end, at)
            if status is None:
                log.warning("voice_end_late", call=str(self._call.id), result=ended.result)
                return
            if ended.result == "unwanted":
                await insert_suppression(db, BookKey(key.book_id, new_id()), self._unwanted(), at)
            if status == "cancelled":
                await store.end_lease(db, key)
                return
            match rules.after(self._attempted(spoken), ended, at):
                case rules.Postponed(until=until, reason=reason):
                    await store.update_postponed(db, key, until, reason, at)
                case rules.Over() as over:
                    url = None
                    if file is not None and self._answered_at is not None:
                        url = pages.url_of(self._services, key, at)
                        row = facts_of(RecordingRow, file, file=recording_name(key))
                        await insert_recording(db, key, row, at)
                    call_end = self._call_end(over, spoken, at, has_recording=url is not None)
                    if spoken is not None and spoken.is_machine:
                        await store.update_machine(db, key)
                    await store.update_ended(db, key, call_end, at)
                    await tell_end(db, self._call, call_end, url, at)

    def _attempted(self, spoken: Spoken | None) -> rules.Attempted:
        call = self._call
        return rules.Attempted(
            attempt=self._intent.attempt,
            max_attempts=call.max_attempts,
            retry_delay=timedelta(seconds=call.retry_delay_s),
            not_after=call.not_after,
            was_answered=self._answered_at is not None,
            is_machine=self._answered_by == "machine" or bool(spoken and spoken.is_machine),
            conversation_end="interrupted" if self._is_interrupted else spoken and spoken.end,
        )

    def _call_end(
        self, over: rules.Over, spoken: Spoken | None, at: datetime, *, has_recording: bool
    ) -> CallEnd:
        lasted = at - self._answered_at if self._answered_at else timedelta()
        return CallEnd(
            status=over.status,
            ended_reason=over.reason,
            ended_by=over.ended_by,
            duration_seconds=round(lasted.total_seconds()),
            outcome_code=spoken.outcome if spoken else None,
            outcome=msgspec.json.encode(spoken.data).decode() if spoken else None,
            summary=spoken.summary if spoken else None,
            has_opted_out=spoken.has_opted_out if spoken else False,
            recording_status="ready" if has_recording else "none",
        )

    def _unwanted(self) -> SuppressionRow:
        """The number that the network reports."""
        return SuppressionRow(
            phone_number=self._call.customer_phone,
            reason="unwanted",
            note=None,
            call_id=self._call.id,
            created_by_name="Tillhouse",
        )
