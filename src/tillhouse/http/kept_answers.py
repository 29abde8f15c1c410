"""The quota of kept answers: how they are counted, and the refusal of one too many."""

from datetime import timedelta

from tillhouse.access.storage import StoredKind
from tillhouse.db.pool import Db
from tillhouse.http import store
from tillhouse.http.idempotency import KEPT_FOR
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now

# An answer is dated by the beginning of its request: it is there within this time, or never.
_SETTLED = timedelta(minutes=1)
_ROWS = 10_000


async def _count(db: Db, _job: Job) -> bool:
    """Count some new answers, and forget the days of which none is kept any more."""
    moment = now()
    count = await store.add_new_answers(db, moment - _SETTLED, _ROWS)
    await store.delete_old_days(db, (moment - KEPT_FOR).date() - timedelta(days=1), _ROWS)
    return count >= _ROWS


COUNT = LocalKind(name="answer_storage", run=_count, every=timedelta(minutes=1))

ANSWERS = StoredKind(
    name="answers",
    rows_setting="ANSWER_LIMIT",
    mib_setting="ANSWER_LIMIT_MIB",
    measure=store.show_stored,
    list_books=store.list_answers_stored,
    message=(
        "This environment keeps as many answers of Idempotency-Keys as {setting} lets it: wait "
        f"until older ones are forgotten, which are {KEPT_FOR.days} days old then, or ask whoever "
        "runs this server to raise the limit. Requests with keys that are known are answered."
    ),
)
