"""A page of the desk: who asks for it, what it may call, and what becomes of it.

A handler gets a `PageRequest` and gives a `Shown` template or an `Onward` address. The session,
the proof of a form and the book that it is about are checked before it; a password that an
operation asks for, or a session that ended meanwhile, is asked for with the form carried along.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tillhouse.access.callers import UserCaller
from tillhouse.access.process import Services
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.operations import (
    Acting,
    Arguments,
    Operation,
    OperationAnswer,
    OperationCall,
    Query,
    call,
    scope_of,
)
from tillhouse.desk.session import cookies
from tillhouse.desk.session.forms import Form, MadeFor
from tillhouse.http.caller import check_person
from tillhouse.http.raw import RawRequest
from tillhouse.kit.errors import (
    Conflict,
    Forbidden,
    KeyReused,
    Missing,
    PasswordVerificationRequired,
    Problem,
    SecondFactorSetupRequired,
    SubscriptionRequired,
)
from tillhouse.kit.ids import BookId
from tillhouse.kit.secrets import Environment, digest

if TYPE_CHECKING:
    from tillhouse.desk.frame.places import Frame

# The blocks of a page that are asked for, and for whom and what the page is that they belong to.
BLOCK, SHOWN = "tillhouse-block", "tillhouse-shown"
_BLOCKS_MAX = 20
_NO_FORM = Form([])
_NOTHING: Mapping[str, Any] = {}


class Shown(msgspec.Struct, frozen=True):
    """A page to show: a template with its facts, and the refusal that it tells of."""

    template: str
    facts: Mapping[str, Any] = _NOTHING
    refusal: Problem | None = None
    # Whether it holds a secret, or belongs to no session: no browser may keep it.
    is_secret: bool = False
    # Whether the navigation stands around it.
    has_frame: bool = True


class FormRefused(Exception):
    """A form that an operation refused: its page is shown again, with what is wrong."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Onward(msgspec.Struct, frozen=True):
    """The page to go on to, after something was done."""

    address: str
    # Whether the browser forgets all that it keeps of the desk.
    clears: bool = False


class Streamed(msgspec.Struct, frozen=True):
    """Server-sent events, as they come."""

    pieces: AsyncGenerator[bytes]


class PageRequest:
    """A page as somebody asks for it."""

    def __init__(
        self, services: Services, request: RawRequest, given: cookies.Cookies, *, is_secure: bool
    ) -> None:
        self.services = services
        self.request = request
        self.given = given
        self.is_secure = is_secure
        self.person: UserCaller | None = None
        # The cookie of the session, as the browser has it or will have it.
        self.secret = given.session
        self.form = _NO_FORM
        # Why its form was refused, for the page that is shown with it.
        self.refusal: Problem | None = None
        # The address of the page: its forms are sent there once more when something is missing.
        self.action = ""
        # The calls of the page itself, for its list of calls; those of the frame are no part of it.
        self.calls: list[OperationCall] = []
        # Cookies to set with the answer.
        self.cookies: list[str] = []
        self.mode: Environment = given.mode or "live"
        # The frame, once something asked for it.
        self.frame: Frame | None = None
        # The blocks that are asked for in place of the whole page.
        asked = request.header(BLOCK) if request.method == "GET" else None
        self.blocks = (asked or "").split()[:_BLOCKS_MAX]
        # The operation that wants the password first, by its method and path.
        self.unproven = ""
        # Whether its address holds a secret.
        self.hides_address = False
        # The address of its stream, where it is a live page.
        self.live: str | None = None

    @property
    def member(self) -> UserCaller:
        """The person who is signed in; only pages behind the sign-in ask."""
        assert self.person is not None, "this page is behind the sign-in"  # noqa: S101
        return self.person

    @property
    def book_id(self) -> BookId:
        """The book that the page acts in."""
        return self.member.books.of(self.mode)

    @property
    def made_for(self) -> MadeFor:
        """The person and the book that forms of the page are made for."""
        person = self.member
        return MadeFor(str(person.user_id), str(person.business_id), str(self.book_id))

    @property
    def shown_for(self) -> str:
        """A sign of whom the page is for and what it shows: no block of another fits into it."""
        text = f"page of {self.made_for.text} {self.member.role} {self.given.store}"
        return digest(self.services.vault.pepper, text).hex()[:16]

    @property
    def path(self) -> Mapping[str, str]:
        """The values in the address of the page."""
        return self.request.path

    def may(self, operation: Operation) -> bool:
        """Whether the person's role allows an operation."""
        return self.person is not None and operation.is_open_to(self.person)

    def check(self, operation: Operation) -> None:
        """Refuse a page that the role may not see, or whose form it may not send."""
        try:
            check_person(self.member, operation.route.guard)
        except (SubscriptionRequired, SecondFactorSetupRequired):
            raise
        except Forbidden as problem:
            role = sentence(f"role.{self.member.role}")
            raise Forbidden(sentence("refusal.role", role=role)) from problem

    async def read(
        self, operation: Operation, *values: str, **query: str | int | None
    ) -> OperationAnswer | None:
        """The answer of an operation; None, and no card, where the role doesn't allow it."""
        if not self.may(operation):
            return None
        self._note(operation, values, query)
        return await self.ask(operation, *values, query=query)

    async def needed(
        self, operation: Operation, *values: str, **query: str | int | None
    ) -> OperationAnswer:
        """The answer without which there is no page: a role that may not is refused."""
        self.check(operation)
        self._note(operation, values, query)
        return await self.ask(operation, *values, query=query)

    async def act(
        self, operation: Operation, *values: str, body: Any = None, key: str | None = None
    ) -> OperationAnswer:
        """Do what a form asks for, or raise why it is refused.

        The form is no help where the thing isn't there, or where the password is asked for first.
        """
        try:
            return await self.ask(operation, *values, body=body, key=key)
        except PasswordVerificationRequired:
            self.unproven = f"{operation.route.method} {operation.route.path}"
            raise
        except Missing:
            raise
        except KeyReused as problem:
            raise FormRefused(Conflict(sentence("refusal.sent_before"))) from problem
        except Problem as problem:
            raise FormRefused(problem) from problem

    async def ask(
        self,
        operation: Operation,
        *values: str,
        query: Query = _NOTHING,
        body: Any = None,
        key: str | None = None,
    ) -> OperationAnswer:
        """Call an operation, as the person and in the book of the page."""
        acting, given = Acting(self.person, self.mode), Arguments(values, query, body, key)
        return await call(self.services, self.request, acting, operation, given)

    async def together(
        self, *reads: Awaitable[OperationAnswer | None]
    ) -> list[OperationAnswer | None]:
        """Several reads side by side; when one is refused, the others end before that is told."""
        tasks = [asyncio.ensure_future(read) for read in reads]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _note(self, operation: Operation, values: tuple[str, ...], query: Query) -> None:
        route = operation.route
        self.calls.append(
            OperationCall(route.method, operation.address(values, query), scope_of(route))
        )


Handler = Callable[[PageRequest], Awaitable[Shown | Onward | Streamed]]
Show = Callable[[PageRequest], Awaitable[Shown]]


class Live(msgspec.Struct, frozen=True):
    """Which events make which blocks of a page untrue."""

    # One of them must be open to the person; that of a page of one thing shows the thing.
    operations: Sequence[Operation]
    # By the beginning of an event's type.
    blocks: Mapping[str, Sequence[str]]


class Goal(msgspec.Struct, frozen=True):
    """How the palette names a page that leads somewhere, beside the entries of the navigation."""

    # Its sentence in the catalogue.
    name: str
    # All of them must be open to the person.
    operations: Sequence[Operation] = ()
    sort: Literal["page", "action"] = "page"
    # That of its entry in the navigation where it has none of its own.
    icon: str = ""
    # The key that leads there.
    key: str = ""


class PageRoute(msgspec.Struct, frozen=True):
    """One page, or one form, of the desk."""

    method: Literal["GET", "POST"]
    path: str
    handler: Handler
    # The page that tells why the form was refused; None: one that tells nothing else.
    refused: Show | None = None
    # Whether it is for people who aren't signed in as well.
    is_open: bool = False
    # Whether the form is about the book that it was made for; else it is about the person alone.
    is_of_book: bool = True
    # Whether the form is done with when the session has ended.
    is_moot: bool = False
    # Whether it is open before a second factor is on that the person's role needs.
    before_factor: bool = False
    # Whether its address holds a secret: no referrer tells it, and it proves the page's form.
    hides_address: bool = False
    # Whether scripts ask for it by themselves: it is no sign that somebody is there.
    is_unattended: bool = False
    # The handler of an address that has a code in place of the id.
    by_code: Handler | None = None
    # How the page stays true while it is open.
    live: Live | None = None
    # How the palette finds it.
    goal: Goal | None = None
