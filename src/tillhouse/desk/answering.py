"""From a request to the answer of a page: session, proof, handler, template, headers."""

import gzip
import re
from urllib.parse import quote, urlencode

import msgspec
import structlog

from tillhouse.access.attempt_rules import network_of
from tillhouse.access.people import person_by_cookie
from tillhouse.access.process import Services
from tillhouse.desk import rendering
from tillhouse.desk.fields import without_groups
from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.live import stream_address
from tillhouse.desk.page import (
    BLOCK,
    SHOWN,
    FormRefused,
    Onward,
    PageRequest,
    PageRoute,
    Shown,
    Streamed,
)
from tillhouse.desk.session import cookies, forms
from tillhouse.desk.session.carrying import with_secrets
from tillhouse.desk.session.forms import MadeFor
from tillhouse.desk.session.proving import prove, sign_in_again, step_up
from tillhouse.desk.session.recent import RecentCookies
from tillhouse.http import problems
from tillhouse.http.answer import EVENTS
from tillhouse.http.away import DATABASE_AWAY, TRY_AGAIN
from tillhouse.http.problems import Headers
from tillhouse.http.raw import HTML, RawAnswer, RawRequest, RawRoute
from tillhouse.kit.errors import (
    Conflict,
    Forbidden,
    Missing,
    PasswordVerificationRequired,
    Problem,
    SecondFactorSetupRequired,
    Unauthenticated,
    Unavailable,
)

log = structlog.get_logger()

SIGN_IN = "/desk/sign-in"
# The page of a person whose role needs a second factor that isn't on.
SET_UP = "/desk/account/second-factor"
_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; img-src 'self'; "
    b"media-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
    b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Headers = [
    (b"content-security-policy", _POLICY),
    (b"permissions-policy", b"camera=(self), microphone=()"),
    (b"x-robots-tag", b"noindex"),
]
_REFERRER = (b"referrer-policy", b"same-origin")
# A browser that tells no referrer names no origin either, so no form behind the sign-in is sent so.
_NO_REFERRER = (b"referrer-policy", b"no-referrer")
# Browsers heed it on HTTPS alone, and complain elsewhere.
_APART = (b"cross-origin-opener-policy", b"same-origin")
_ASKED_AGAIN = (b"cache-control", b"private, no-cache")
_NEVER_KEPT = (b"cache-control", b"no-store")
_GZIP_FROM_BYTES = 1024
_GZIP_LEVEL = 5
_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_WORD = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*")


class MadeForAnother(Conflict):
    """The form, or the page, was made for another person, business or book than is there now."""


class Desk:
    """The pages of one process."""

    def __init__(self) -> None:
        self._recent = RecentCookies()

    def route(self, page: PageRoute) -> RawRoute:
        """A page as a route of the server."""

        async def handle(services: Services, request: RawRequest) -> RawAnswer:
            return await self.answer(services, request, page)

        return RawRoute(
            method=page.method,
            path=page.path,
            handler=handle,
            refusal=rendering.bare_refusal,
            body_bytes_max=forms.BYTES_MAX,
            has_own_queue=True,
        )

    async def answer(self, services: Services, request: RawRequest, route: PageRoute) -> RawAnswer:
        """Answer a request for a page."""
        route = _route_of(request, route)
        is_secure = services.settings.public_url.startswith("https://")
        page = PageRequest(
            services, request, cookies.read(request, is_secure=is_secure), is_secure=is_secure
        )
        page.action = _address(route, request)
        page.hides_address = route.hides_address
        if self._recent.knows(page.secret):
            # Its calls take turns of the business; strangers in the same network are no hindrance.
            await self._begin(page, route)
            if page.person is not None:
                return await _answered(page, route)
        async with services.shares.pages.turn(network_of(request.ip)):
            if page.person is None:
                await self._begin(page, route)
            if page.person is None:
                return await _answered(page, route)
        return await _answered(page, route)

    async def _begin(self, page: PageRequest, route: PageRoute) -> None:
        """Read the form, and find the person."""
        if route.method == "POST":
            if not route.hides_address:
                forms.check_origin(page.request, page.services.settings.public_url)
            page.form = without_groups(forms.read(page.request.body))
        if page.secret is not None:
            page.person = await person_by_cookie(
                page.services, page.secret, page.request.now,
                is_use=not (page.blocks or route.is_unattended),
            )  # fmt: skip
            self._recent.note(page.secret, is_good=page.person is not None)


async def _answered(page: PageRequest, route: PageRoute) -> RawAnswer:
    try:
        return await _shown(page, route)
    except (Problem, TimeoutError, *DATABASE_AWAY, *TRY_AGAIN) as error:
        if not page.cookies:
            raise
        # The session has another cookie by now: without it the browser would be signed out.
        log.warning("page_failed", request_id=page.request.request_id, error=str(error)[:200])
        problem = error if isinstance(error, Problem) else Unavailable()
        bare = rendering.bare_refusal(problem.message, page.request.request_id)
        headers = [*bare.headers, *cookies.headers(page.cookies), *problems.headers_of(problem)]
        return RawAnswer(HTML, bare.body, problems.status_of(problem), headers=headers)


async def _shown(page: PageRequest, route: PageRoute) -> RawAnswer:
    shown: Shown | Onward | Streamed
    try:
        shown = await _handled(page, route)
    except PasswordVerificationRequired:
        shown = step_up(page, page.unproven)
    except FormRefused as refused:
        shown = Shown("frame/refusal.html", refusal=refused.problem)
    except Problem as problem:
        if page.blocks:
            raise
        shown = Shown("frame/refusal.html", refusal=problem)
    if isinstance(shown, Onward):
        return _onward(page, shown)
    if isinstance(shown, Streamed):
        headers = [(b"vary", b"Cookie"), *_headers(page)]
        return RawAnswer(EVENTS.decode(), shown.pieces, headers=headers, person=page.person)
    if route.live and page.person and shown.refusal is None:
        page.live = stream_address(page)
    frame = await frame_of(page) if page.person and shown.has_frame else None
    page.blocks = rendering.blocks_of(shown.template, page.blocks)
    return _page(page, shown, rendering.render(page, shown, frame))


async def _handled(page: PageRequest, route: PageRoute) -> Shown | Onward | Streamed:
    # An open form makes a session, so it has none that it could be of.
    if route.is_open:
        return await _acted(page, route)
    if route.method == "GET":
        return await _looked_at(page, route)
    if page.person is None and route.is_moot:
        return await route.handler(page)
    if page.person is None or forms.SIGN_IN_EMAIL in page.form:
        # The session ended while the form was filled in: it is sent on once somebody signed in.
        if refused := await sign_in_again(page):
            return refused
    elif not forms.is_proof(
        page.services.vault.pepper, page.person.session_id, page.form.get(forms.CSRF, "")
    ):
        raise Forbidden("This form is from another session. Open the page again, and send it anew.")
    if route.is_of_book:
        _check_made_for(page)
    if page.member.needs_factor and not route.before_factor:
        raise SecondFactorSetupRequired(sentence("refusal.factor_first"))
    if refused := await prove(page):
        return refused
    page.form = with_secrets(page)
    return await _acted(page, route)


async def _acted(page: PageRequest, route: PageRoute) -> Shown | Onward | Streamed:
    """Handle it; a form that an operation refused is shown once more, by its page."""
    try:
        return await route.handler(page)
    except FormRefused as refused:
        if route.refused is None:
            raise
        page.refusal = refused.problem
    return msgspec.structs.replace(await route.refused(page), refusal=page.refusal)


async def _looked_at(page: PageRequest, route: PageRoute) -> Shown | Onward | Streamed:
    if page.blocks:
        _check_shown(page)
    elif page.person is None:
        # A browser that had a session hears why it is at the door.
        ended = {"session": "over"} if page.given.session else {}
        return Onward(f"{SIGN_IN}?{urlencode({'next': page.action, **ended})}")
    if page.member.needs_factor and not route.before_factor:
        if page.blocks:
            raise SecondFactorSetupRequired
        return Onward(SET_UP)
    return await route.handler(page)


def _check_shown(page: PageRequest) -> None:
    """Refuse blocks for a page of another person, business, book or store than is there now."""
    if page.person is None:
        raise Unauthenticated
    if page.request.header(SHOWN) != page.shown_for:
        raise MadeForAnother


def _route_of(request: RawRequest, route: PageRoute) -> PageRoute:
    """The route as its address is written; one that leads nowhere is refused before anything."""
    values = request.path.items()
    if all((_ID if name.endswith("_id") else _WORD).fullmatch(value) for name, value in values):
        return route
    if route.by_code is None or not all(_WORD.fullmatch(value) for _, value in values):
        raise Missing
    return msgspec.structs.replace(route, handler=route.by_code, live=None)


def _check_made_for(page: PageRequest) -> None:
    """Refuse a form that somebody else filled in, or that is about another book than is shown."""
    was, now = MadeFor.read(page.form.get(forms.MADE_FOR)), page.made_for
    if was == now:
        return
    if was is None or was.user != now.user:
        raise MadeForAnother(sentence("refusal.other_person"))
    if was.business != now.business:
        raise MadeForAnother(sentence("refusal.other_business"))
    raise MadeForAnother(sentence(f"refusal.other_mode.{page.mode}"))


def _onward(page: PageRequest, onward: Onward) -> RawAnswer:
    headers: Headers = [
        (b"location", onward.address.encode("ascii")), _NEVER_KEPT, *_headers(page)
    ]  # fmt: skip
    if onward.clears:
        headers.append((b"clear-site-data", b'"cache", "storage"'))
    return RawAnswer("text/plain; charset=utf-8", b"", 303, headers=headers, person=page.person)


def _page(page: PageRequest, shown: Shown, body: bytes) -> RawAnswer:
    is_kept = page.person is not None and not shown.is_secret
    headers: Headers = [
        _ASKED_AGAIN if is_kept else _NEVER_KEPT,
        (b"vary", b"Cookie, Accept-Encoding, Tillhouse-Block"),
        *_headers(page),
    ]
    if page.blocks:
        headers.append((BLOCK.encode(), " ".join(page.blocks).encode()))
    if len(body) >= _GZIP_FROM_BYTES and "gzip" in (page.request.header("accept-encoding") or ""):
        body = gzip.compress(body, _GZIP_LEVEL, mtime=0)
        headers.append((b"content-encoding", b"gzip"))
    if shown.refusal is None:
        return RawAnswer(HTML, body, headers=headers, person=page.person)
    # A browser would ask for a password of its own.
    told = problems.headers_of(shown.refusal)
    headers += [header for header in told if header[0] != b"www-authenticate"]
    status = problems.status_of(shown.refusal)
    return RawAnswer(HTML, body, status, headers=headers, person=page.person)


def _headers(page: PageRequest) -> Headers:
    apart = [_APART] if page.is_secure else []
    referrer = _NO_REFERRER if page.hides_address else _REFERRER
    return [*_HEADERS, referrer, *apart, *cookies.headers(page.cookies)]


def _address(route: PageRoute, request: RawRequest) -> str:
    """The address that was asked for."""
    path = route.path
    for name, value in request.path.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return f"{path}?{urlencode(request.query)}" if request.query else path
