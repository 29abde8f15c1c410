"""Live pages: each has one stream, which names those of its blocks that are no longer true.

The pages of a book share one look at its events, which is taken when some are committed, and the
sessions behind all pages are asked for again in one statement. A stream that waits holds no
connection, and nothing of an event is sent: the right to see the page is enough.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator
from uuid import UUID

import structlog

from tillhouse.access.attempt_rules import network_of
from tillhouse.access.callers import UserCaller
from tillhouse.access.people import people_of_sessions
from tillhouse.access.process import Services
from tillhouse.access.shares import Quota, connections_max
from tillhouse.db.feeds import LOOK_MAX, NO_LOOK
from tillhouse.db.pool import Pool
from tillhouse.desk.page import Live, PageRequest, PageRoute, Streamed
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Limited, Unavailable
from tillhouse.kit.ids import BookId
from tillhouse.webhooks.new_events import Given, NewEvents, StreamedEvent

log = structlog.get_logger()

PAGES_MAX, PAGES_OF_NETWORK_MAX = 500, 100
PAGES_OF_BUSINESS_MAX, PAGES_OF_PERSON_MAX = 60, 20
# Each keeps a connection: they leave most of them to other requests.
OF_CONNECTIONS = 4
# A notification that was lost is made up for by then.
LOOK_EVERY_S = 10.0
# The session is asked for again so often; each time the browser hears that the line is there.
ASKED_AGAIN_S = 12.0
# Commits of so long are told together, a page is told no more often than each second, and all
# pages of a process together ask for no more blocks than so many in a second.
GATHER_S, REST_S, TOLD_PER_S = 0.1, 1.0, 20
# Events so much older than a page may have been under way when it was made. A page that is older
# than the other is brought up to date whatever has happened.
UNDER_WAY_MS, AGE_MS_MAX = 1_000, 60_000
# Ids carry the milliseconds of their making in so many bits: no page was made later.
_AT_END = 1 << 48
_START, _STREAMS = "/desk", "/desk/live"
_TOO_MANY = "Too many pages are open."
_HEARTBEAT = b":\n\n"


def stream_address(page: PageRequest) -> str:
    """The address of the stream of a page, which begins where the page was made."""
    path = page.action.partition("?")[0].removeprefix(_START)
    at = int(page.request.now.timestamp() * 1000)
    return f"{_STREAMS}{path}?shown={page.shown_for}&at={at}"


class _OpenPage:
    """A page that is open in a browser, and what it has yet to be told."""

    def __init__(self, person: UserCaller, live: Live, thing: str | None) -> None:
        self.person = person
        self._live = live
        self._thing = None if thing is None else thing.encode()
        self._untrue: set[str] = set()
        self._is_line_due = False
        self._woken = asyncio.Event()
        self._over = asyncio.Event()
        # Why it is over, where the page can say it.
        self.reason: str | None = None

    def note(self, event: StreamedEvent) -> None:
        """Something happened: the blocks that it makes untrue have to be told."""
        for beginning, blocks in self._live.blocks.items():
            if event.type.startswith(beginning) and self._is_about(event):
                self._untrue.update(blocks)
                self._woken.set()

    def note_all(self) -> None:
        """Nothing is known of the time before: every block has to be told."""
        for blocks in self._live.blocks.values():
            self._untrue.update(blocks)
        self._woken.set()

    def note_person(self, person: UserCaller | None) -> None:
        """The person as of now: the page is over for another one, and for a lower role."""
        if person is None:
            self.end("signed_out")
        elif person.needs_factor or (person.business_id, person.role) != (
            self.person.business_id, self.person.role
        ):  # fmt: skip
            self.end("changed")
        self._is_line_due = True
        self._woken.set()

    async def until(self, event: asyncio.Event) -> None:
        """Wait for something, or until nothing more is told."""
        waits = [asyncio.ensure_future(one.wait()) for one in (event, self._over)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def end(self, reason: str | None) -> None:
        """Tell nothing more."""
        self.reason = reason
        self._over.set()
        self._woken.set()

    async def pieces(self, open_pages: "_Count") -> AsyncGenerator[bytes]:
        """Everything that it is told, until it is over."""
        while True:
            await self._woken.wait()
            await self._rest(GATHER_S)
            self._woken.clear()
            if self._over.is_set():
                break
            if self._is_line_due:
                self._is_line_due = False
                yield _HEARTBEAT
            if names := sorted(self._untrue):
                self._untrue.clear()
                yield _told("block", " ".join(names))
                await self._rest(max(REST_S, open_pages.number / TOLD_PER_S))
        if self.reason is not None:
            yield _told("over", self.reason)

    def _is_about(self, event: StreamedEvent) -> bool:
        # An event names each thing that it is about by its id.
        return self._thing is None or self._thing in event.frame

    async def _rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._over.wait()


class _Count:
    """How many pages are open."""

    number = 0


class _Book:
    """The open pages of one book, and the look at its events that they share."""

    def __init__(self, pool: Pool, book_id: BookId) -> None:
        self._pool = pool
        self._book_id = book_id
        self.pages: set[_OpenPage] = set()
        # Set once every event that is committed from then on is noted.
        self.is_watched = asyncio.Event()
        self._task = asyncio.create_task(self._watch())
        self._task.add_done_callback(self._end)

    @property
    def is_over(self) -> bool:
        """Whether an unforeseen error has ended it."""
        return self._task.done()

    def stop(self) -> None:
        """Look no more."""
        self._task.cancel()

    async def note_missed(self, page: _OpenPage, since_ms: int) -> None:
        """Note for a page what happened between its making and the opening of its stream."""
        if now().timestamp() * 1000 - since_ms > AGE_MS_MAX:
            page.note_all()
            return
        given = Given(since_ms - UNDER_WAY_MS)
        try:
            async with self._pool.notifier.look(), self._pool.reading() as db:
                missed = await given.look(db, self._book_id, LOOK_MAX)
        except NO_LOOK:
            page.note_all()
            return
        for event in missed:
            page.note(event)

    async def _watch(self) -> None:
        source = NewEvents(self._pool, self._book_id)
        with self._pool.notifier.following(self._book_id) as follower:
            while True:
                with contextlib.suppress(*NO_LOOK):
                    async with self._pool.notifier.look():
                        came = await source.more(LOOK_MAX)
                    self.is_watched.set()
                    for event in came:
                        for page in self.pages:
                            page.note(event)
                    if len(came) == LOOK_MAX:
                        follower.wake()
                await follower.wait(LOOK_EVERY_S)

    def _end(self, task: asyncio.Task[None]) -> None:
        self.is_watched.set()
        for page in self.pages:
            page.end(None)
        if not task.cancelled() and (error := task.exception()):
            log.error("live_pages_failed", exc_info=error)


class LivePages:
    """The live pages that are open in one process."""

    def __init__(self, asked_again_s: float = ASKED_AGAIN_S) -> None:
        self._asked_again_s = asked_again_s
        total = min(PAGES_MAX, connections_max() // OF_CONNECTIONS)
        self._of_businesses = Quota(total, PAGES_OF_BUSINESS_MAX, _TOO_MANY)
        self._of_networks = Quota(total, PAGES_OF_NETWORK_MAX, _TOO_MANY)
        # The pages of each person, the oldest first.
        self._of_people: dict[UUID, list[_OpenPage]] = {}
        self._books: dict[BookId, _Book] = {}
        self._count = _Count()
        self._asking: asyncio.Task[None] | None = None

    def stream_of(self, route: PageRoute) -> PageRoute:
        """The stream of a live page."""
        live = route.live
        assert live is not None, "only live pages have one"  # noqa: S101

        async def follow(page: PageRequest) -> Streamed:
            # The stream says it, and the page in its own words: a refusal would be a broken line.
            if page.person is None:
                return Streamed(_only("signed_out"))
            if page.request.query.get("shown") != page.shown_for:
                return Streamed(_only("changed"))
            thing = next(iter(page.path.values()), None)
            if thing is not None:
                await page.needed(live.operations[0], thing)
            elif not any(map(page.may, live.operations)):
                page.check(live.operations[0])
            return Streamed(self._follow(page, _OpenPage(page.member, live, thing)))

        path = _STREAMS + route.path.removeprefix(_START)
        return PageRoute("GET", path, follow, is_open=True, is_unattended=True)

    async def _follow(self, page: PageRequest, opened: _OpenPage) -> AsyncGenerator[bytes]:
        since = page.request.query.get("at", "")
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self._of_networks.hold(network_of(page.request.ip), 1))
                stack.enter_context(self._of_businesses.hold(page.member.business_id, 1))
            except (Limited, Unavailable):
                yield _told("over", "full")
                return
            stack.enter_context(self._of_person(opened))
            book = stack.enter_context(self._open(page.services, page.book_id, opened))
            yield _HEARTBEAT
            await opened.until(book.is_watched)
            if since.isascii() and since.isdigit() and len(since) < 16 and int(since) < _AT_END:
                await book.note_missed(opened, int(since))
            async with contextlib.aclosing(opened.pieces(self._count)) as pieces:
                async for piece in pieces:
                    yield piece

    @contextlib.contextmanager
    def _of_person(self, page: _OpenPage) -> Iterator[None]:
        """One more page of a person: beyond the most, the oldest makes room for it."""
        user_id = page.person.user_id
        pages = self._of_people.setdefault(user_id, [])
        pages.append(page)
        if len(pages) > PAGES_OF_PERSON_MAX:
            pages.pop(0).end("full")
        try:
            yield
        finally:
            if page in pages:
                pages.remove(page)
            if not pages and self._of_people.get(user_id) is pages:
                del self._of_people[user_id]

    @contextlib.contextmanager
    def _open(self, services: Services, book_id: BookId, page: _OpenPage) -> Iterator[_Book]:
        book = self._books.get(book_id)
        if book is None or book.is_over:
            book = self._books[book_id] = _Book(services.pool, book_id)
        book.pages.add(page)
        self._count.number += 1
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_again(services))
        try:
            yield book
        finally:
            book.pages.discard(page)
            self._count.number -= 1
            if not book.pages:
                book.stop()
                if self._books.get(book_id) is book:
                    del self._books[book_id]
            if not self._count.number:
                self._stop_asking()

    def _stop_asking(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    async def _ask_again(self, services: Services) -> None:
        while True:
            await asyncio.sleep(self._asked_again_s)
            pages = [page for book in self._books.values() for page in book.pages]
            session_ids: set[UUID] = {page.person.session_id for page in pages}
            try:
                people = await people_of_sessions(services, list(session_ids), now())
            except NO_LOOK:
                # Neither rights nor events are seen: pages shall say that they aren't live.
                for page in pages:
                    page.end(None)
                continue
            for page in pages:
                page.note_person(people.get(page.person.session_id))


async def _only(reason: str) -> AsyncGenerator[bytes]:
    yield _told("over", reason)


def _told(event: str, data: str) -> bytes:
    return f"event: {event}\ndata: {data}\n\n".encode()
