"""Idempotency: one key, one effect, one answer, all in the transaction of the effect.

There is no "in progress" state: a second request with the same key waits on the unique
index until the first commits (then it replays) or rolls back (then it runs).

The first try of a request hopes that its key is new, as most are: it does its work and then keeps
the key with the answer. Where that fails, all is undone, and the next try claims the key before
anything else.

Kept answers have a quota, which is counted after they are kept.
"""

import hashlib
import re
from datetime import datetime, timedelta
from typing import Any

import msgspec
import structlog
from asyncpg import LockNotAvailableError

from tillhouse.access.call import IdempotencyClaim
from tillhouse.access.usage import StoredKind
from tillhouse.db.pool import Db
from tillhouse.http import store
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.kit.errors import InProgress, Invalid, KeyReused

KEPT_FOR = timedelta(days=8)
_SWEEP_ROWS = 1000

log = structlog.get_logger()

_canonical = msgspec.json.Encoder(order="deterministic", decimal_format="number")
_KEY = re.compile(
    rb'"(?P<quoted>[\x20\x21\x23-\x7e]{1,255})"'
    rb"|(?P<bare>[\x21\x23-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?)"
)
# An answer is dated by the beginning of its request: it is there within this time, or never.
_SETTLED = timedelta(minutes=1)
_COUNTED_ROWS = 10_000


def parse_key(header: bytes) -> str:
    """The key of an Idempotency-Key header, bare or in double quotes."""
    match = _KEY.fullmatch(header.strip(b" \t"))
    if match is None:
        raise Invalid.field("Idempotency-Key", "must be 1 to 255 printable ASCII characters")
    return (match["quoted"] or match["bare"]).decode()


def fingerprint(method: str, path: str, body: Any) -> bytes:
    """The identity of a request: method, path and the body's meaning."""
    canonical = _canonical.encode([method, path, body])
    return hashlib.sha256(canonical).digest()


async def claim(db: Db, claim: IdempotencyClaim, now: datetime) -> bytes | None:
    """The kept answer of an earlier request; None when this one is the first, and has the key."""
    try:
        is_first = await store.claim_key(
            db, claim.book_id, claim.surface, claim.key, claim.fingerprint, now
        )
    except LockNotAvailableError:
        raise InProgress from None
    if is_first:
        return None
    answer = await earlier_answer(db, claim)
    if answer is None:
        # Swept between the two statements: as good as never used, so let the caller repeat.
        raise InProgress
    return answer


async def earlier_answer(db: Db, claim: IdempotencyClaim) -> bytes | None:
    """The stored answer to the same request; another request with its key is a mistake."""
    row = await store.find_answer(db, claim.book_id, claim.surface, claim.key)
    if row is None or row["answer"] is None:
        return None
    if row["fingerprint"] != claim.fingerprint:
        raise KeyReused
    return row["answer"]


async def keep(db: Db, claim: IdempotencyClaim, answer: bytes, now: datetime) -> None:
    """Keep the first answer beside its effect."""
    if claim.is_claimed:
        await store.update_answer(db, claim.book_id, claim.surface, claim.key, answer)
        return
    used = (claim.surface, claim.key, claim.fingerprint)
    try:
        await store.insert_answer(db, (claim.book_id, now), used, answer)
    except LockNotAvailableError:
        raise InProgress from None


async def sweep(db: Db, _job: Job) -> bool:
    """Forget some keys that are older than the promise; whether there may be more."""
    count = await store.delete_old_keys(db, now() - KEPT_FOR, _SWEEP_ROWS)
    if count:
        log.info("idempotency_keys_swept", count=count)
    return count == _SWEEP_ROWS


SWEEP = LocalKind(name="idempotency_keys", run=sweep, every=timedelta(hours=1))


async def _count(db: Db, _job: Job) -> bool:
    """Count some new answers, and forget the days of which none is kept any more."""
    moment = now()
    count = await store.add_new_answers(db, moment - _SETTLED, _COUNTED_ROWS)
    await store.delete_old_days(db, (moment - KEPT_FOR).date() - timedelta(days=1), _COUNTED_ROWS)
    return count >= _COUNTED_ROWS


COUNT = LocalKind(name="answer_storage", run=_count, every=timedelta(minutes=1))

ANSWERS = StoredKind(
    name="answers",
    rows_setting="ANSWER_LIMIT",
    mib_setting="ANSWER_LIMIT_MIB",
    counts=store.ANSWER_STORAGE,
    message=(
        "This environment keeps as many answers of Idempotency-Keys as {setting} lets it: wait "
        f"until older ones are forgotten, which are {KEPT_FOR.days} days old then, or ask whoever "
        "runs this server to raise the limit. Requests with keys that are known are answered."
    ),
)
