"""The account of a person in this browser: devices, password, appearance, business and store."""

from typing import Any

import msgspec

from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.desk.account import factor
from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import FormRefused, Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.session import cookies
from tillhouse.desk.session.addresses import own_address
from tillhouse.desk.session.proving import SWITCH, renew
from tillhouse.kit.errors import Missing

LIST_SESSIONS = Operation(ACCOUNTS, "GET", "/api/auth/sessions")
END_SESSION = Operation(ACCOUNTS, "DELETE", "/api/auth/sessions/{login_session_id}")
END_OTHERS = Operation(ACCOUNTS, "POST", "/api/auth/sessions/end-others")
CHANGE_PASSWORD = Operation(ACCOUNTS, "POST", "/api/auth/change-password")
_ACCOUNT = "/desk/account"
# Those used last; all others can be ended together.
_SESSIONS_SHOWN = 20


async def show(page: PageRequest, *, is_changed: bool = False) -> Shown:
    """The person, the devices that are signed in, and the forms."""
    frame = await frame_of(page)
    listed = await page.read(LIST_SESSIONS)
    found: list[dict[str, Any]] = listed.data if listed else []
    sessions = [one | {"used": frame.when(one["refreshedAt"])} for one in found[:_SESSIONS_SHOWN]]
    facts: dict[str, Any] = {
        "sessions": sessions, "others": len(found) - len(sessions), "is_changed": is_changed,
        "factor": await factor.facts_of(page), "businesses": await factor.businesses_of(page),
    }  # fmt: skip
    return Shown("account/account.html", facts)


async def end_session(page: PageRequest) -> Onward:
    """Sign one device out; this one perhaps."""
    ended = page.path["session_id"]
    await page.act(END_SESSION, ended)
    if ended != str(page.member.session_id):
        return Onward(_ACCOUNT)
    page.cookies.append(cookies.forgotten(is_secure=page.is_secure))
    return Onward("/", clears=True)


async def end_others(page: PageRequest) -> Onward:
    """Sign every other device out."""
    await page.act(END_OTHERS)
    return Onward(_ACCOUNT)


async def change_password(page: PageRequest) -> Shown | Onward:
    """Take another password; all other devices are signed out."""
    names = ("current_password", "new_password")
    try:
        await page.act(CHANGE_PASSWORD, body={name: page.form.get(name, "") for name in names})
    except FormRefused as refused:
        return msgspec.structs.replace(await show(page), refusal=refused.problem, is_secret=True)
    await renew(page, keeps_old=False)
    return await show(page, is_changed=True)


async def choose_mode(page: PageRequest) -> Onward:
    """Show the test or the live book from now on."""
    chosen = page.form.get("mode")
    if chosen not in ("test", "live"):
        raise Missing
    page.cookies.append(cookies.choice("mode", chosen, is_secure=page.is_secure))
    return Onward(own_address(page.form.get("back")))


async def choose_theme(page: PageRequest) -> Onward:
    """Show light or dark pages, or what the device shows."""
    chosen = page.form.get("theme", "")
    if chosen not in ("light", "dark", ""):
        raise Missing
    page.cookies.append(cookies.choice("theme", chosen, is_secure=page.is_secure))
    return Onward(_ACCOUNT)


async def choose_keys(page: PageRequest) -> Onward:
    """Let single letters be keys in this browser, or not."""
    chosen = page.form.get("keys", "")
    if chosen not in ("off", ""):
        raise Missing
    page.cookies.append(cookies.choice("keys", chosen, is_secure=page.is_secure))
    return Onward(_ACCOUNT)


async def choose_store(page: PageRequest) -> Onward:
    """Show one store from now on, or all of them."""
    chosen = page.form.get("store_id", "")
    frame = await frame_of(page)
    if chosen and chosen not in [one["id"] for one in frame.stores]:
        raise Missing
    page.cookies.append(cookies.choice("store", chosen, is_secure=page.is_secure))
    return Onward(own_address(page.form.get("back")))


async def choose_business(page: PageRequest) -> Onward:
    """Go on in another business of the person, with all of its stores."""
    await page.act(SWITCH, body={"business_id": page.form.get("business_id", "")})
    page.cookies.append(cookies.choice("store", "", is_secure=page.is_secure))
    return Onward("/desk")


ROUTES = (
    PageRoute("GET", _ACCOUNT, show, goal=Goal("frame.account", icon="user")),
    PageRoute("POST", "/desk/account/sessions/{session_id}/end", end_session, is_of_book=False),
    *factor.ROUTES,
    PageRoute("POST", "/desk/account/end-others", end_others, is_of_book=False),
    PageRoute("POST", "/desk/account/password", change_password, is_of_book=False),
    PageRoute("POST", "/desk/account/theme", choose_theme, is_of_book=False),
    PageRoute("POST", "/desk/account/keys", choose_keys, is_of_book=False),
    PageRoute("POST", "/desk/mode", choose_mode, is_of_book=False),
    PageRoute("POST", "/desk/store", choose_store),
    PageRoute("POST", "/desk/business", choose_business, is_of_book=False, before_factor=True),
)
