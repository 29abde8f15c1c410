"""The door: signing in and out, opening a business, taking an invitation."""

import msgspec

from tillhouse.access.people import take_opening
from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.desk.frame.places import first_page
from tillhouse.desk.frame.sentences import COUNTRIES, CURRENCIES
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import FormRefused, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.session import cookies
from tillhouse.desk.session.addresses import BEGIN, START, device, own_address
from tillhouse.desk.session.proving import (
    LOG_OUT,
    choose_mode,
    code_step,
    open_session,
    replace_session,
    try_login,
)
from tillhouse.kit.errors import Forbidden, Missing, Problem
from tillhouse.kit.network import is_loopback

REGISTER = Operation(ACCOUNTS, "POST", "/api/auth/register")
JOIN = Operation(ACCOUNTS, "POST", "/api/auth/accept-invitation")
LOOK_AT_INVITATION = Operation(ACCOUNTS, "POST", "/api/auth/accept-invitation/preview")

_SIGN_IN = Shown("session/sign_in.html", is_secret=True, has_frame=False)
_REGISTER = Shown(
    "session/register.html",
    {"countries": COUNTRIES, "currencies": CURRENCIES},
    is_secret=True,
    has_frame=False,
)
_JOIN = Shown("session/join.html", is_secret=True, has_frame=False)
_OPEN = Shown("session/open.html", is_secret=True, has_frame=False)
_REGISTERED = (
    "name", "email", "password", "business_name", "business_type", "country", "currency",
    "time_zone",
)  # fmt: skip


async def show_sign_in(page: PageRequest) -> Shown | Onward:
    """The door, for somebody who isn't signed in."""
    if page.person:
        return Onward(own_address(page.request.query.get("next")))
    return _SIGN_IN


async def sign_in(page: PageRequest) -> Shown | Onward:
    """Sign in, and go on to the page that was asked for before."""
    _check_scheme(page)
    answer = await try_login(page, page.form.get("email", ""), page.form.get("password", ""))
    if isinstance(answer, tuple):
        problem, ticket = answer
        return code_step(page, problem, ticket) or msgspec.structs.replace(
            _SIGN_IN, refusal=problem
        )
    await open_session(page, answer.data["accessToken"])
    asked = page.form.get("next")
    return Onward(own_address(asked) if asked else first_page(page))


async def show_register(page: PageRequest) -> Shown | Onward:
    """The form that opens a business."""
    return Onward(START) if page.person else _REGISTER


async def register(page: PageRequest) -> Shown | Onward:
    """Open a business, and sign its owner in; it begins in the test book."""
    _check_scheme(page)
    body = {name: page.form[name] for name in _REGISTERED if page.form.get(name)}
    try:
        answer = await page.act(REGISTER, body=body)
    except FormRefused as refused:
        return msgspec.structs.replace(_REGISTER, refusal=refused.problem)
    await open_session(page, answer.data["accessToken"])
    choose_mode(page, "test")
    return Onward(BEGIN)


async def show_join(page: PageRequest) -> Shown:
    """The form that takes an invitation, with what it is to; one that is over says so."""
    return await _join(page)


async def _join(page: PageRequest, refusal: Problem | None = None) -> Shown:
    try:
        invited = await page.ask(LOOK_AT_INVITATION, body={"token": page.path["token"]})
    except Problem as over:
        return msgspec.structs.replace(_JOIN, facts={"invited": None}, refusal=over)
    return msgspec.structs.replace(_JOIN, facts={"invited": invited.data}, refusal=refusal)


async def join(page: PageRequest) -> Shown | Onward:
    """Join the business that invited somebody, and sign in there."""
    more = {"token": page.path["token"]}
    if name := page.form.get("name"):
        more["name"] = name
    answer = await try_login(page, "", page.form.get("password", ""), JOIN, **more)
    if isinstance(answer, tuple):
        problem, ticket = answer
        return code_step(page, problem, ticket) or await _join(page, problem)
    await open_session(page, answer.data["accessToken"])
    return Onward(first_page(page))


async def show_opening(page: PageRequest) -> Shown:
    """The button that opens the demo business; looking at the page opens nothing."""
    _check_loopback(page)
    return _OPEN


async def open_once(page: PageRequest) -> Onward:
    """Open the session of an address that `tillhouse serve --demo` printed, in its test book."""
    _check_loopback(page)
    own = device(page.request.header("user-agent"))
    secret, now = page.path["secret"], page.request.now
    async with page.services.pool.transaction() as db:
        cookie = await take_opening(page.services, db, secret, own, now)
    if cookie is None:
        raise Missing(
            "This address was used, or is older than ten minutes: "
            "the command “tillhouse demo” prints a new one."
        )
    await replace_session(page, cookie)
    choose_mode(page, "test")
    return Onward(START)


async def sign_out(page: PageRequest) -> Onward:
    """End the session of this browser, if it hasn't ended yet."""
    if page.person:
        await page.act(LOG_OUT)
    page.cookies.append(cookies.forgotten(is_secure=page.is_secure))
    return Onward("/", clears=True)


def _check_scheme(page: PageRequest) -> None:
    """Refuse to sign in where the cookie would be lost: it is for HTTPS, and the page isn't."""
    if page.is_secure and (page.request.header("origin") or "").startswith("http://"):
        url = page.services.settings.public_url
        raise Forbidden(f"This page must be opened by its own address: {url}")


def _check_loopback(page: PageRequest) -> None:
    if not is_loopback(page.request.ip):
        raise Forbidden("Only a browser on this machine can use this address: sign in instead.")


ROUTES = (
    PageRoute("GET", "/desk/sign-in", show_sign_in, is_open=True),
    PageRoute("POST", "/desk/sign-in", sign_in, is_open=True),
    PageRoute("GET", "/desk/register", show_register, is_open=True),
    PageRoute("POST", "/desk/register", register, is_open=True),
    PageRoute("GET", "/desk/join/{token}", show_join, is_open=True),
    PageRoute("POST", "/desk/join/{token}", join, is_open=True),
    PageRoute("GET", "/desk/open/{secret}", show_opening, is_open=True),
    PageRoute("POST", "/desk/open/{secret}", open_once, is_open=True),
    PageRoute(
        "POST", "/desk/sign-out", sign_out, is_of_book=False, is_moot=True, before_factor=True
    ),
)
