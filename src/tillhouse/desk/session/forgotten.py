"""The door for people who forgot the password: ask for a link, and set another one by it."""

import msgspec

from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import FormRefused, Onward, PageRequest, PageRoute, Shown
from tillhouse.kit.errors import Problem
from tillhouse.providers.mail.jobs import is_set

FORGOT = Operation(ACCOUNTS, "POST", "/api/auth/forgot-password")
RESET = Operation(ACCOUNTS, "POST", "/api/auth/reset-password")
LOOK_AT_LINK = Operation(ACCOUNTS, "POST", "/api/auth/reset-password/preview")
# The sign-in page says that the password is set.
_DONE = "/desk/sign-in?password=set"

_FORGOT = Shown("session/forgot.html", is_secret=True, has_frame=False)
_RESET = Shown("session/reset.html", is_secret=True, has_frame=False)


async def show_forgot(page: PageRequest) -> Shown:
    """The form that asks for a link; where no mails are sent, whom to ask."""
    return _forgot(page)


async def forgot(page: PageRequest) -> Shown:
    """Ask for a link: the page that follows is the same for every address."""
    try:
        await page.act(FORGOT, body={"email": page.form.get("email", "")})
    except FormRefused as refused:
        return _forgot(page, refused.problem)
    return _forgot(page, is_sent=True)


async def show_reset(page: PageRequest) -> Shown:
    """The form for another password; a link that is over says so."""
    return await _reset(page)


async def reset(page: PageRequest) -> Shown | Onward:
    """Set another password; signing in with it is the next step."""
    body = {"token": page.path["token"], "new_password": page.form.get("new_password", "")}
    try:
        await page.act(RESET, body=body)
    except FormRefused as refused:
        return await _reset(page, refused.problem)
    return Onward(_DONE)


def _forgot(page: PageRequest, refusal: Problem | None = None, *, is_sent: bool = False) -> Shown:
    facts = {"is_mailed": is_set(page.services), "is_sent": is_sent}
    return msgspec.structs.replace(_FORGOT, facts=facts, refusal=refusal)


async def _reset(page: PageRequest, refusal: Problem | None = None) -> Shown:
    try:
        link = await page.ask(LOOK_AT_LINK, body={"token": page.path["token"]})
    except Problem as over:
        return msgspec.structs.replace(_RESET, facts={"email": None}, refusal=over)
    return msgspec.structs.replace(_RESET, facts={"email": link.data["email"]}, refusal=refusal)


ROUTES = (
    PageRoute("GET", "/desk/forgot", show_forgot, is_open=True),
    PageRoute("POST", "/desk/forgot", forgot, is_open=True),
    PageRoute("GET", "/desk/reset/{token}", show_reset, is_open=True, hides_address=True),
    PageRoute("POST", "/desk/reset/{token}", reset, is_open=True, hides_address=True),
)
