"""Sessions of a browser: opened by a login, given another cookie, proven by the password."""

import msgspec

from tillhouse.access.people import give_cookie, person_by_cookie, renew_cookie
from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.accounts.second_factor.rules import SecondFactorRequired
from tillhouse.desk.frame.sentences import SENTENCES, sentence
from tillhouse.desk.operations import Operation, OperationAnswer
from tillhouse.desk.page import FormRefused, PageRequest, Shown
from tillhouse.desk.session import cookies, forms, tickets
from tillhouse.desk.session.addresses import device
from tillhouse.desk.session.forms import MadeFor
from tillhouse.kit.errors import Problem, Unauthenticated
from tillhouse.kit.secrets import Environment

LOG_IN = Operation(ACCOUNTS, "POST", "/api/auth/login")
LOG_OUT = Operation(ACCOUNTS, "POST", "/api/auth/logout")
VERIFY = Operation(ACCOUNTS, "POST", "/api/auth/verify-password")
SWITCH = Operation(ACCOUNTS, "POST", "/api/auth/switch")

_STEP_UP = Shown("session/step_up.html", is_secret=True, has_frame=False)
_AGAIN = Shown("session/sign_in_again.html", is_secret=True, has_frame=False)


_CODE = Shown("session/code.html", is_secret=True, has_frame=False)


def code_step(page: PageRequest, problem: Problem, ticket: str | None) -> Shown | None:
    """The page that asks for the code; None where the sign-in begins anew."""
    if ticket is None:
        return None
    # The first step went well: nothing is wrong yet.
    facts = {"ticket": ticket, "is_first": forms.TICKET not in page.form}
    return msgspec.structs.replace(_CODE, facts=facts, refusal=problem)


async def open_session(page: PageRequest, access_token: str) -> None:
    """Make a session by tokens that of this browser; the tokens are given to nobody."""
    session_id = page.services.tokens.read(access_token).session_id
    now, own = page.request.now, device(page.request.header("user-agent"))
    async with page.services.pool.transaction() as db:
        cookie = await give_cookie(page.services, db, session_id, own, now)
    if cookie is None:
        raise Unauthenticated("This session has ended: sign in again.")
    await replace_session(page, cookie)


async def replace_session(page: PageRequest, cookie: str) -> None:
    """Go on in the session of a cookie; the one before ends, which no browser has any more."""
    if before := page.person:
        person = await person_by_cookie(page.services, cookie, page.request.now)
        if person is not None and person.session_id != before.session_id:
            await page.act(LOG_OUT)
    await _take(page, cookie)


async def renew(page: PageRequest, *, keeps_old: bool) -> None:
    """Give the session of this browser another cookie; with the old one nobody gets in.

    Where another request was first, that one brings the browser its cookie.
    """
    secret, now = page.secret, page.request.now
    assert secret is not None, "the person was found by it"  # noqa: S101
    own = device(page.request.header("user-agent"))
    async with page.services.pool.transaction() as db:
        cookie = await renew_cookie(page.services, db, secret, own, now, keeps_old=keeps_old)
    if cookie is not None:
        await _take(page, cookie)
    else:
        page.person = await person_by_cookie(page.services, secret, now)


async def _take(page: PageRequest, cookie: str) -> None:
    page.cookies.append(cookies.session_cookie(cookie, is_secure=page.is_secure))
    page.secret = cookie
    page.person = await person_by_cookie(page.services, cookie, page.request.now)


async def try_login(
    page: PageRequest, email: str, password: str, operation: Operation = LOG_IN, **more: str
) -> OperationAnswer | tuple[Problem, str | None]:
    """Log in, or by what else logs in: the answer, or why not and the ticket for the next step.

    A form of the second step has a ticket in place of the password.
    """
    body = {"email": email, "password": password, **more}
    given = page.form.get(forms.TICKET)
    if given is not None:
        ticket = tickets.read(page.services.vault, given, page.request.now)
        if ticket is None:
            return Unauthenticated(sentence("sign_in.too_late")), None
        body |= {"email": ticket.email, "password": ticket.password}
        body["code"] = page.form.get(forms.CODE) or "-"
    secret = (body["email"], body["password"])
    if operation is not LOG_IN:
        del body["email"]
    try:
        return await page.act(operation, body=body)
    except FormRefused as refused:
        problem = refused.problem
        asks = problem.code == SecondFactorRequired.code
        if not asks and given is None:
            return problem, None
        ticket = given or tickets.write(page.services.vault, *secret, page.request.now)
        return problem, ticket


async def sign_in_again(page: PageRequest) -> Shown | None:
    """Sign in for a form whose session has ended; None when it may be sent on.

    It is about the business and the book that it was made for, whichever a login opens first.
    """
    email = page.form.get(forms.SIGN_IN_EMAIL)
    if email is None:
        return msgspec.structs.replace(_AGAIN, refusal=Unauthenticated("You were signed out."))
    answer = await try_login(page, email, page.form.get(forms.SIGN_IN_PASSWORD, ""))
    if isinstance(answer, tuple):
        problem, ticket = answer
        return code_step(page, problem, ticket) or msgspec.structs.replace(_AGAIN, refusal=problem)
    await open_session(page, answer.data["accessToken"])
    made_for = MadeFor.read(page.form.get(forms.MADE_FOR))
    if made_for is not None:
        await _go_to(page, made_for)
    return None


async def _go_to(page: PageRequest, made_for: MadeFor) -> None:
    if made_for.business != str(page.member.business_id):
        try:
            await page.ask(SWITCH, body={"business_id": made_for.business})
        except Problem:
            # The person belongs to it no more: the form is refused for that, not the login.
            return
        page.person = await person_by_cookie(page.services, page.secret or "", page.request.now)
    books = page.member.books
    if made_for.book == str(books.test):
        choose_mode(page, "test")
    elif made_for.book == str(books.live):
        choose_mode(page, "live")


def step_up(page: PageRequest, operation: str) -> Shown:
    """The page that asks for the password, with the name of what it is asked for."""
    purpose = SENTENCES.get(f"step_up_for.{operation}") or sentence("step_up.otherwise")
    return msgspec.structs.replace(_STEP_UP, facts={"purpose": purpose, "operation": operation})


async def prove(page: PageRequest) -> Shown | None:
    """Step up by the password that came with a form; None when there is none, or it is right."""
    password = page.form.get(forms.STEP_UP_PASSWORD)
    if password is None or page.person is None:
        return None
    try:
        await page.act(VERIFY, body={"password": password})
    except FormRefused as refused:
        asked = step_up(page, page.form.get(forms.STEP_UP_FOR, ""))
        return msgspec.structs.replace(asked, refusal=refused.problem)
    await renew(page, keeps_old=True)
    return None


def choose_mode(page: PageRequest, mode: Environment) -> None:
    """Show the test or the live book in this browser from now on."""
    page.mode = mode
    page.cookies.append(cookies.choice("mode", mode, is_secure=page.is_secure))
