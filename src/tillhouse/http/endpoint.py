"""The one endpoint: every request of the API goes through `Endpoint.answer`, step by step.

admit → read the body → parse → one transaction (replay or handler) → commit → answer.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from typing import Any

import asyncpg
import msgspec
import structlog

from tillhouse.access.call import AnonymousCall, Call, IdempotencyClaim
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.http import fields, idempotency
from tillhouse.http.answer import EVENTS, SuccessAnswer, envelope, remarked
from tillhouse.http.away import DATABASE_AWAY, TRY_AGAIN, away
from tillhouse.http.caller import READS, admit
from tillhouse.http.exchange import ClientLeft, Exchange, Receive, read_body
from tillhouse.http.idempotency import ANSWERS
from tillhouse.http.route import EventStream, Open, Portal, Reply, Route
from tillhouse.http.signature import NoBody, NoQuery, signature_of
from tillhouse.http.wire import read
from tillhouse.kit.clock import now
from tillhouse.kit.errors import FieldError, Invalid, Limited, Problem, Unavailable, check
from tillhouse.kit.partial import InvalidField

log = structlog.get_logger()

# A comment, which clients of server-sent events pass over.
_HEARTBEAT = b":\n\n"
# A deadlock's victim has done nothing wrong and nothing at all: it runs again.
_TRIES = 3
# A larger body is read in one step and judged in another: other requests go on between them.
_LARGE_BYTES = 64 * 1024

After = Callable[[], Awaitable[Reply[Any]]]


class _Begun(msgspec.Struct, frozen=True):
    """A request whose caller was let in and whose path and query were read."""

    book: Book | None
    # The arguments of the handler so far; the body comes last.
    args: list[Any]
    wrong: list[FieldError]


class RouteHandler:
    """A route, ready to answer."""

    def __init__(self, route: Route) -> None:
        self.route = route
        signature = signature_of(route)
        payload = signature.payload
        self._is_read = route.method in READS
        self._has_payload = payload is not None
        self.data_type: Any = signature.data
        self.body_type: Any = NoBody if self._is_read else payload or NoBody
        self.query_type: Any = payload or NoQuery if self._is_read else NoQuery
        self.path_types = signature.path
        self._reply = signature.reply
        self._faults = signature.faults
        self._replay_status = route.replay_status or route.status
        self._surface = "portal" if isinstance(route.guard, Portal) else "v1"

    async def answer(
        self, services: Services, exchange: Exchange, path: dict[str, str], receive: Receive
    ) -> SuccessAnswer:
        """Answer one request, or raise the problem that it has."""
        begun = await self._begin(services, exchange, path)
        if self._is_read:
            return await self._answer_read(services, exchange, begun)
        with services.shares.body(exchange.owner, is_stranger=exchange.caller is None) as held:
            raw = await read_body(exchange, receive, held)
            return await self._answer_write(services, exchange, begun, raw)

    async def perform(
        self, services: Services, exchange: Exchange, path: dict[str, str], raw: bytes = b""
    ) -> SuccessAnswer:
        """The same where the body is already there: a page of this process asks, not a client."""
        begun = await self._begin(services, exchange, path)
        if self._is_read:
            return await self._answer_read(services, exchange, begun)
        return await self._answer_write(services, exchange, begun, raw)

    async def _begin(self, services: Services, exchange: Exchange, path: dict[str, str]) -> _Begun:
        wrong: list[FieldError] = []
        book = await self._admit(services, exchange, wrong)
        args = [fields.path_value(text, self.path_types[name]) for name, text in path.items()]
        query = None
        try:
            query = fields.parse_query(exchange.query, self.query_type, services.declared.lists)
        except Invalid as problem:
            wrong += problem.details or ()
        if self._is_read and self._has_payload:
            args.append(query)
        return _Begun(book, args, wrong)

    async def _answer_read(
        self, services: Services, exchange: Exchange, begun: _Begun
    ) -> SuccessAnswer:
        check(begun.wrong[: fields.ERRORS_MAX])
        async with self._turn(services, exchange):
            # The caller has left, so a read is dropped. A write is made: it was asked for.
            if exchange.has_left():
                raise ClientLeft
            if self.route.stream and EVENTS in exchange.headers.get(b"accept", b""):
                return await self._listen(services, exchange, begun.book, begun.args)
            return await self._read(services, exchange, begun.book, begun.args)

    async def _answer_write(
        self, services: Services, exchange: Exchange, begun: _Begun, raw: bytes
    ) -> SuccessAnswer:
        book, args, wrong = begun.book, begun.args, begun.wrong
        async with self._turn(services, exchange, len(raw)):
            key = self._key(exchange, wrong)
            # No body at all is an empty object.
            decoded, unfit = read(raw) if raw else ({}, [])
            if len(raw) > _LARGE_BYTES:
                await asyncio.sleep(0)
            form = fields.form_of(decoded, unfit, self.body_type, services.declared.lists)
            if wrong or form.wrong:
                broken = await self._broken(services, exchange, book, args, form)
                raise fields.all_errors(wrong, form.wrong, broken)
            if self._has_payload:
                args.append(form.body)
            claim = self._claim(exchange, book, key, form.decoded)
            return await self._write(services, exchange, book, args, claim)

    def _turn(
        self, services: Services, exchange: Exchange, size: int = 0
    ) -> AbstractAsyncContextManager[None]:
        """The turn of the caller's business; a check of a password has a queue of its own."""
        if self.route.has_own_queue or isinstance(self.route.guard, Open):
            return nullcontext()
        return services.shares.turn(exchange.owner, size, is_read=self._is_read)

    async def _admit(
        self, services: Services, exchange: Exchange, wrong: list[FieldError]
    ) -> Book | None:
        try:
            return await admit(services, self.route.guard, exchange)
        except Invalid as problem:
            # The caller is known, and may call: only the book isn't said. Tell the rest as well.
            wrong += problem.details or ()
            return None
        except DATABASE_AWAY as error:
            raise away(error, exchange) from error

    async def _broken(
        self,
        services: Services,
        exchange: Exchange,
        book: Book | None,
        args: list[Any],
        form: fields.Form,
    ) -> list[FieldError]:
        """The rules' findings about the valid fields; none for a request without its book."""
        if self._faults is None or book is None or not isinstance(form.decoded, dict):
            return []
        db = services.pool.reader()
        try:
            body = fields.right_parts(form.decoded, self.body_type, services.declared.lists)
            return await self._faults(self._call(services, exchange, book, db), *args, body)
        except (Problem, InvalidField, *DATABASE_AWAY):
            # The faults of the form are true all the same.
            return []
        finally:
            await db.release()

    def _key(self, exchange: Exchange, wrong: list[FieldError]) -> str | None:
        """The Idempotency-Key, where the route heeds one."""
        if not self.route.idempotent or isinstance(self.route.guard, Open):
            return None
        if b"idempotency-key" in exchange.repeated:
            wrong.append(FieldError("Idempotency-Key", "is given twice; send one"))
            return None
        header = exchange.headers.get(b"idempotency-key")
        if header is None:
            if self.route.needs_key:
                reason = "is required: send one for each request"
                wrong.append(FieldError("Idempotency-Key", reason))
            return None
        try:
            return idempotency.parse_key(header)
        except Invalid as problem:
            wrong += problem.details or ()
            return None

    def _claim(
        self, exchange: Exchange, book: Book | None, key: str | None, decoded: Any
    ) -> IdempotencyClaim | None:
        if key is None or book is None:
            return None
        print_ = idempotency.fingerprint(exchange.method, exchange.path, decoded)
        return IdempotencyClaim(book.id, self._surface, key, print_)

    async def _read(
        self, services: Services, exchange: Exchange, book: Book | None, args: list[Any]
    ) -> SuccessAnswer:
        db = services.pool.reader()
        try:
            reply = await self._replied(self._call(services, exchange, book, db), args)
            body = reply.sheet.text.encode() if reply.sheet else envelope(reply, self.route.message)
            return SuccessAnswer(self.route.status, body, sheet=reply.sheet)
        except DATABASE_AWAY as error:
            raise away(error, exchange) from error
        finally:
            await db.release()

    async def _listen(
        self, services: Services, exchange: Exchange, book: Book | None, args: list[Any]
    ) -> SuccessAnswer:
        assert self.route.stream is not None, "asked before"  # noqa: S101
        db = services.pool.reader()
        try:
            stream = await self.route.stream(self._call(services, exchange, book, db), *args)
            return SuccessAnswer(self.route.status, self._watched(services, exchange, stream))
        except DATABASE_AWAY as error:
            raise away(error, exchange) from error
        finally:
            await db.release()

    async def _watched(
        self, services: Services, exchange: Exchange, stream: EventStream
    ) -> AsyncGenerator[bytes]:
        """The pieces with signs of life between them; they end when the caller may no longer."""
        due = time.monotonic() + stream.heartbeat_s
        # The first lets the caller know at once that it is heard.
        yield _HEARTBEAT
        async with aclosing(stream.pieces):
            async for piece in stream.pieces:
                if time.monotonic() >= due:
                    if not await self._still_may(services, exchange):
                        return
                    due = time.monotonic() + stream.heartbeat_s
                    yield _HEARTBEAT
                yield piece

    async def _still_may(self, services: Services, exchange: Exchange) -> bool:
        again = msgspec.structs.replace(exchange, now=now())
        try:
            await admit(services, self.route.guard, again)
        except (Limited, Unavailable, *DATABASE_AWAY):
            # Neither a busy key nor a database that is away says that it may not.
            return True
        except Problem:
            return False
        return True

    async def _write(
        self,
        services: Services,
        exchange: Exchange,
        book: Book | None,
        args: list[Any],
        claim: IdempotencyClaim | None,
    ) -> SuccessAnswer:
        constraints = services.declared.constraints
        for left in reversed(range(_TRIES)):
            db = services.pool.writer(commits_next=True)
            is_optimistic = claim is not None and not claim.is_claimed
            try:
                call = self._call(services, exchange, book, db, claim)
                answer, after = await self._try(call, args, claim)
                break
            except TRY_AGAIN as error:
                if not left:
                    raise away(error, exchange) from error
            except asyncpg.LockNotAvailableError as error:
                if not is_optimistic:
                    raise away(error, exchange) from error
            except DATABASE_AWAY as error:
                raise away(error, exchange) from error
            except asyncpg.IntegrityConstraintViolationError as error:
                if not is_optimistic and not (left and constraints.is_chance(error)):
                    raise await self._refusal(services, exchange, error) from error
            except (asyncpg.DataError, asyncpg.CharacterNotInRepertoireError) as error:
                # Validation should have caught it: the caller hears 422, the log hears more.
                log.exception("unstorable_value", request_id=exchange.request_id)
                raise Invalid.field("body", "holds a value that can't be stored") from error
            finally:
                await db.rollback()
            claim = claim and msgspec.structs.replace(claim, is_claimed=True)
        else:
            raise AssertionError("the last try answers or raises")
        return await self._finish(services, exchange, answer, after, claim) if after else answer

    async def _refusal(
        self, services: Services, exchange: Exchange, error: asyncpg.PostgresError
    ) -> Exception:
        """The answer to a violated constraint; the error itself when it is ours to mend."""
        refusal = services.declared.constraints.refusal(error, self.route.refused_code)
        if refusal is None and isinstance(error, asyncpg.ForeignKeyViolationError):
            # Perhaps the business was deleted while the request waited, and the caller with it:
            # then it is refused as those are that come later.
            await self._admit(services, exchange, [])
        return refusal or error

    async def _finish(
        self,
        services: Services,
        exchange: Exchange,
        answer: SuccessAnswer,
        after: After,
        claim: IdempotencyClaim | None,
    ) -> SuccessAnswer:
        """Do the work after the commit: a failure there takes nothing back."""
        try:
            final = envelope(await after(), self.route.message)
            if claim is not None:
                kept = msgspec.structs.replace(claim, is_claimed=True)
                async with services.pool.transaction() as db:
                    await idempotency.keep(db, kept, final, exchange.now)
        except (Problem, *DATABASE_AWAY) as error:
            log.warning("after_commit", request_id=exchange.request_id, error=str(error)[:200])
            return answer
        return SuccessAnswer(answer.status, final)

    async def _try(
        self, call: AnonymousCall, args: list[Any], claim: IdempotencyClaim | None
    ) -> tuple[SuccessAnswer, After | None]:
        """One transaction: the effect, its answer and its key are kept together or not at all."""
        if claim is not None and claim.is_claimed:
            kept = await idempotency.claim(call.db, claim, call.now)
            if kept is not None:
                return SuccessAnswer(self._replay_status, kept, is_replay=True), None
        try:
            # A request that needs a key is not held up by kept answers.
            if claim is not None and not self.route.needs_key:
                call.services.storage.check(ANSWERS.name, claim.book_id)
            reply = await self._replied(call, args)
        except Problem:
            # The refusal may come from the same request, which succeeded a moment ago.
            kept = await self._earlier(call.db, claim)
            if kept is None:
                raise
            return kept, None
        if reply.is_replay and (kept := await self._earlier(call.db, claim)):
            return kept, None
        message = self.route.message
        body = reply.kept or envelope(reply, message)
        if claim is not None and reply.kept is None:
            stored = body if reply.stored is None else envelope(reply, message, reply.stored)
            await idempotency.keep(call.db, claim, stored, call.now)
        await call.db.commit()
        if reply.is_replay:
            return SuccessAnswer(self._replay_status, body, is_replay=True), None
        return SuccessAnswer(self.route.status, body), reply.after

    async def _replied(self, call: AnonymousCall, args: list[Any]) -> Reply[Any]:
        reply = await self._reply(call, *args)
        return remarked(reply, self.route.message, call.remarks) if call.remarks else reply

    async def _earlier(self, db: Db, claim: IdempotencyClaim | None) -> SuccessAnswer | None:
        """The kept answer of the key, where it was not looked up at the beginning."""
        if claim is None or claim.is_claimed:
            return None
        await db.rollback()
        kept = await idempotency.earlier_answer(db, claim)
        return None if kept is None else SuccessAnswer(self._replay_status, kept, is_replay=True)

    def _call(
        self,
        services: Services,
        exchange: Exchange,
        book: Book | None,
        db: Db,
        claim: IdempotencyClaim | None = None,
    ) -> AnonymousCall:
        if book is None or exchange.caller is None or isinstance(self.route.guard, Open):
            return AnonymousCall(
                db=db,
                services=services,
                now=exchange.now,
                request_id=exchange.request_id,
                ip=exchange.ip,
            )
        return Call(
            db=db,
            services=services,
            now=exchange.now,
            request_id=exchange.request_id,
            ip=exchange.ip,
            business_id=exchange.caller.business_id,
            book=book,
            caller=exchange.caller,
            claim=claim,
        )
