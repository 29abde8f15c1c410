"""A walk through all books: a chore looks at some at a time, and goes on after them.

A chore of the installation reads as much at once however many books there are. Its position is kept
in its own row of the queue, so that a restart goes on where the last one was.
"""

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.jobs import store
from tillhouse.jobs.kinds import Job

BOOKS_AT_ONCE = 500
_FIRST = UUID(int=0)

# Works for some books; returns whether more is left of these very books.
Works = Callable[[Db, Sequence[UUID]], Awaitable[bool]]


async def walk(work: Works, db: Db, job: Job, at_once: int = BOOKS_AT_ONCE) -> bool:
    """Work for the next books; whether some are left of them, or more come after them."""
    position = UUID(bytes=job.payload) if job.payload else _FIRST
    books = await store.list_books_after(db, position, at_once)
    if await work(db, books):
        return True
    is_over = len(books) < at_once
    await store.update_payload(db, job, None if is_over else books[-1].bytes)
    return not is_over
