"""The worker: claims due deliveries, sends them, records the results, again and again.

Any number of workers on any machines share the queue. One that is killed loses nothing: the
lease of its claims runs out, and another claims it.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from datetime import timedelta

import msgspec
import structlog
from asyncpg import Record

from tillhouse.access.process import Services
from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Db
from tillhouse.jobs.worker import Worker
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Unavailable
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.secrets import SealBroken
from tillhouse.settings import SettingError
from tillhouse.webhooks import mailing, rules, signing
from tillhouse.webhooks.actions.secrets import SEAL_KIND
from tillhouse.webhooks.sender import notices
from tillhouse.webhooks.sender.attempt import TIMEOUT_S, AttemptOutcome, attempt
from tillhouse.webhooks.sender.batch import (
    DeliveryClaim,
    Result,
    Retries,
    done,
    endpoint_results,
    last_errors,
    one_each,
)
from tillhouse.webhooks.sender.client import WebhookClient
from tillhouse.webhooks.sender.pace import Pace
from tillhouse.webhooks.sender.windows import WINDOW_FIRST, EndpointWindows
from tillhouse.webhooks.store import queue as store
from tillhouse.webhooks.store.queue import Expired, FreeSlots

LEASE = timedelta(seconds=30)
SLOTS = 1000
# Events wake the sender; retries, the leases of others and lost notifications wait so long.
POLL_S = 1.0
# Results that come within this time are written together.
GATHER_S = 0.03
# So many in one transaction: however many wait, each soon releases its locks.
RECORDED_TOGETHER = 1000
STRANDED_EVERY_S = 2.0
STRANDED_ROWS = 1000
STRANDED_APART_S = 0.005
EVENT_EXPIRED = "event_expired"
DRAIN_WITHIN_S = 4.0

_TROUBLE = (*FAILURES, Unavailable)

log = structlog.get_logger()


class Sender:
    """Sends webhooks in this process until it is stopped."""

    def __init__(
        self,
        services: Services,
        *,
        lease: timedelta = LEASE,
        slots: int = SLOTS,
        poll_s: float = POLL_S,
        attempt_s: float = TIMEOUT_S,
    ) -> None:
        self._services = services
        # Longer than any attempt: the claims of a killed worker are claimed anew when it ends.
        self._lease = lease
        self._attempt_s = attempt_s
        settings = services.settings
        self._retries = Retries(settings.webhook_retry_base_s, settings.webhook_retry_factor)
        self._windows = EndpointWindows(slots)
        self._pace = Pace(settings.webhook_rate)
        # The endpoint after which the next look goes on: each gets its turn, however many.
        self._after = store.FIRST_ENDPOINT
        self._results: list[Result] = []
        self._has_results = asyncio.Event()
        self._claimed = 0
        self._stranded_after = store.FIRST_ENDPOINT
        self._attempts: set[asyncio.Task[None]] = set()
        self._client: WebhookClient | None = None
        self._secrets: dict[bytes, str] = {}
        self._claiming = Worker(
            "webhook claims", self._claim_some, poll_s=poll_s,
            wait=services.pool.notifier.wait, drain_s=DRAIN_WITHIN_S,
        )  # fmt: skip
        self._recording = Worker(
            "webhook results", self._record, poll_s=POLL_S, wait=self._await_results,
            drain_s=DRAIN_WITHIN_S,
        )  # fmt: skip
        self._ending = Worker("stranded webhooks", self._end_stranded, poll_s=STRANDED_EVERY_S)

    @property
    def services(self) -> Services:
        """The tools that it works with."""
        return self._services

    def start(self) -> None:
        """Begin."""
        settings = self._services.settings
        self._client = WebhookClient(settings.webhook_allow_targets, settings.webhook_ca_file)
        workers = (self._claiming, self._recording, self._ending)
        self._services.workers.show(*workers)
        for worker in workers:
            worker.start()

    async def stop(self) -> None:
        """Claim no more, finish the attempts under way, record them, and end."""
        # A claim under way ends first: its deliveries would wait for the lease to run out.
        await asyncio.gather(self._claiming.stop(), self._ending.stop())
        if self._attempts:
            await asyncio.wait(self._attempts, timeout=DRAIN_WITHIN_S)
        await self._recording.stop()
        with contextlib.suppress(*_TROUBLE):
            while self._results:
                await self._record()
        if self._client is not None:
            await self._client.close()

    async def _claim_some(self) -> bool:
        """One look; whether the next one follows at once."""
        await asyncio.sleep(self._pace.wait_s(time.monotonic()))
        if self._claiming.is_stopping:
            return False
        at_s = time.monotonic()
        slots = self._windows.free_slots(at_s, self._pace.most(at_s))
        if not slots.free:
            return False
        claimed = await self._claim(slots)
        self._pace.note(at_s, claimed)
        self._claimed += claimed
        if self._after != store.FIRST_ENDPOINT:
            return True
        # Each endpoint had its turn: there is time to wait when none had anything.
        claimed, self._claimed = self._claimed, 0
        return claimed > 0

    async def _claim(self, slots: FreeSlots) -> int:
        """Claim from the endpoints whose turn it is, and begin; how many were claimed."""
        at = now()
        async with self._services.pool.reading() as db:
            rows, after = await store.claim_batch(
                db, self._after, at, at + self._lease, self._windows.known(time.monotonic()),
                WINDOW_FIRST, slots, rules.FAILURES_TO_PROBE,
            )  # fmt: skip
            self._after = after or store.FIRST_ENDPOINT
            claims = [
                msgspec.convert(dict(row), DeliveryClaim, strict=False)
                for row in rows
                if row["payload"] is not None
            ]
            ready = [claim for claim in claims if await self._can_sign(db, claim)]
        for claim in ready:
            task = asyncio.create_task(self._send(claim, self._begin(claim)))
            self._attempts.add(task)
            task.add_done_callback(self._attempts.discard)
        if len(claims) < len(rows):
            await self._end_expired([row for row in rows if row["payload"] is None])
        return len(rows)

    def _begin(self, claim: DeliveryClaim) -> int:
        """Take a slot; the ticket to give back."""
        return self._windows.begin(
            claim.endpoint_id, time.monotonic(), is_unproven=claim.is_unproven,
            is_probe=claim.is_probe,
        )  # fmt: skip

    async def _end_expired(self, rows: Sequence[Record]) -> None:
        """End deliveries that were queued again and whose event was dropped meanwhile."""
        expired = [msgspec.convert(dict(row), Expired) for row in rows]
        async with self._services.pool.reading() as db:
            await store.end_expired(db, expired, EVENT_EXPIRED, now())

    async def _can_sign(self, db: Db, claim: DeliveryClaim) -> bool:
        """Open the claim's secret; one that does not open holds up its own deliveries alone."""
        sealed = claim.secret_sealed
        if sealed not in self._secrets:
            try:
                self._secrets[sealed] = await self._services.vault.open(
                    db, BusinessId(claim.business_id), claim.developer_app_id, SEAL_KIND, sealed
                )
            except (SealBroken, SettingError, LookupError) as error:
                log.error(  # noqa: TRY400 - the secret's name says it all
                    "webhook_secret_not_opened",
                    app=str(claim.developer_app_id),
                    error=type(error).__name__,
                )
                return False
        return True

    async def _send(self, claim: DeliveryClaim, ticket: int) -> None:
        """One attempt; its result is recorded with others."""
        began = now()
        body = claim.payload.encode()
        secret = self._secrets[claim.secret_sealed]
        headers = signing.headers(secret, claim.event_id, claim.type, body, int(time.time()))
        assert self._client is not None, "the sender was started"  # noqa: S101
        outcome = await attempt(self._client, claim.url, body, headers, within_s=self._attempt_s)
        self._note(claim, ticket, outcome)
        self._results.append(Result(claim, outcome, began, now()))
        self._has_results.set()

    def _note(self, claim: DeliveryClaim, ticket: int, outcome: AttemptOutcome) -> None:
        self._windows.end(
            claim.endpoint_id, ticket, time.monotonic(), is_success=outcome.is_delivered
        )
        # The endpoint has room again, and perhaps more to send.
        self._services.pool.notifier.wake_here()
        if not outcome.is_delivered:
            log.info(
                "webhook_attempt_failed",
                delivery=str(claim.delivery_id),
                endpoint=str(claim.endpoint_id),
                attempt=claim.attempt,
                error=outcome.error,
            )

    async def _await_results(self, timeout_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._has_results.wait()
            await asyncio.sleep(GATHER_S)

    async def _record(self) -> bool:
        """Write the oldest results; on failure they stay, and the leases cover the rest."""
        self._has_results.clear()
        batch, again = one_each(self._results[:RECORDED_TOGETHER])
        self._results = again + self._results[RECORDED_TOGETHER:]
        if self._results:
            self._has_results.set()
        try:
            await self._write(batch)
        except BaseException:
            self._results = batch + self._results
            raise
        return False

    async def _write(self, batch: list[Result]) -> None:
        if not batch:
            return
        async with self._services.pool.transaction() as db:
            await store.turn_index_scans_off(db)
            await store.record_batch(db, [done(result, self._retries) for result in batch])
            at = now()
            failing = await store.update_endpoint_results(
                db, endpoint_results(batch), at, rules.FAILURES_TO_DISABLE, rules.FAILURES_TO_WARN
            )
            errors = last_errors(batch)
            for row in failing:
                await notices.note(db, row, at)
                if self._services.settings.smtp_url is not None:
                    await mailing.queue(db, row, errors[row["id"]], at)
        for row in failing:
            notices.log_one(row)
        if any(result.claim.is_probe for result in batch):
            # Its endpoint may have the next one, or is open again.
            self._services.pool.notifier.wake_here()

    async def _end_stranded(self) -> bool:
        """End queued deliveries of disabled or deleted endpoints; whether more may be."""
        async with self._services.pool.writing_once() as db:
            ended, onward = await store.end_stranded(
                db, self._stranded_after, rules.ENDPOINT_DISABLED, now(), STRANDED_ROWS
            )
        if ended >= STRANDED_ROWS:
            # The same endpoints may have more.
            return True
        self._stranded_after = onward or store.FIRST_ENDPOINT
        if onward is not None:
            await asyncio.sleep(STRANDED_APART_S)
        return onward is not None
