"""Automatic assignment: the longest wait goes to the member whose turn is longest ago.

A conversation that begins to wait, and a member who comes online, queue a job in their own
transaction. The job assigns one batch under the lock of the book's inbox, so that two processes
never decide at once. It waits for no conversation while it holds that lock: one that another
transaction has locked is skipped, and looked at again a second later.
"""

from datetime import datetime, timedelta

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind, NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import iso, now, parse_timestamp
from tillhouse.kit.ids import BookId, ConversationId, new_id
from tillhouse.messaging import rules
from tillhouse.messaging.events import CONVERSATION_ASSIGNED, Assigned
from tillhouse.messaging.sending import find_origin
from tillhouse.messaging.store import assigning as store
from tillhouse.webhooks.emit import emit_all_from

ASSIGNMENT = "conversation_assignment"
SNOOZE = "conversation_snooze"
BATCH = 50
_AGAIN = timedelta(seconds=1)


async def queue_assignment(db: Db, book_id: BookId, due_at: datetime, now: datetime) -> None:
    """Let waiting conversations be assigned after the commit."""
    # A key of its own: queueing never waits for a job that is under way.
    new = NewJob(book_id=book_id, kind=ASSIGNMENT, subject_id=book_id, key=str(new_id()))
    await queue_job(db, new, due_at, now)


async def queue_end_of_snooze(
    db: Db, book_id: BookId, conversation_id: ConversationId, until: datetime, now: datetime
) -> None:
    """Let a conversation open again then."""
    new = NewJob(book_id=book_id, kind=SNOOZE, subject_id=conversation_id, key=iso(until))
    await queue_job(db, new, until, now)


async def assign_waiting(db: Db, job: Job) -> bool:
    """Assign one batch; whether there may be more."""
    at = now()
    inbox = await store.upsert_inbox(db, job.book_id, at)
    if not inbox["assigns_automatically"]:
        return False
    online = await store.list_online(db, job.book_id, at)
    if not online:
        return False
    waiting = await store.lock_waiting(db, job.book_id, BATCH)
    if waiting:
        names = {row["user_id"]: row["name"] for row in online}
        assigned = rules.take_turns(waiting, list(names))
        await store.update_assignees(db, job.book_id, assigned, at)
        turns = {user_id: inbox["turns"] + n for n, (_, user_id) in enumerate(assigned, 1)}
        await store.upsert_turns(db, job.book_id, turns, inbox["turns"] + len(assigned))
        events = [
            (CONVERSATION_ASSIGNED, Assigned(
                conversation_id=conversation_id, assignee_id=user_id,
                assignee_name=names[user_id], assigned_at=iso(at), is_automatic=True,
            ))
            for conversation_id, user_id in assigned
        ]  # fmt: skip
        await emit_all_from(db, await find_origin(db, job.book_id), events, at)
    if len(waiting) == BATCH:
        return True
    if await store.has_waiting(db, job.book_id):
        await queue_assignment(db, job.book_id, at + _AGAIN, at)
    return False


async def end_snooze(db: Db, job: Job) -> bool:
    """Open a conversation again, unless it was opened, closed or snoozed for longer meanwhile."""
    conversation_id = ConversationId(job.subject_id)
    until, at = parse_timestamp(job.key), now()
    if await store.end_snooze(db, job.book_id, conversation_id, until, at):
        await queue_assignment(db, job.book_id, at, at)
    return False


KINDS = (
    LocalKind(name=ASSIGNMENT, run=assign_waiting),
    LocalKind(name=SNOOZE, run=end_snooze),
)
