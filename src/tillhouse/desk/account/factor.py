"""The second factor of a person: set up with a picture, its codes, and turned off."""

from io import StringIO
from typing import Any

import segno

from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown

ME = Operation(ACCOUNTS, "GET", "/api/auth/me")
FACTOR = Operation(ACCOUNTS, "GET", "/api/auth/second-factor")
BEGIN = Operation(ACCOUNTS, "POST", "/api/auth/second-factor")
CONFIRM = Operation(ACCOUNTS, "POST", "/api/auth/second-factor/confirm")
NEW_CODES = Operation(ACCOUNTS, "POST", "/api/auth/second-factor/recovery-codes")
TURN_OFF = Operation(ACCOUNTS, "DELETE", "/api/auth/second-factor")
_PAGE = "/desk/account/second-factor"
_BORDER = 4


async def facts_of(page: PageRequest) -> dict[str, Any]:
    """How the factor of the person stands, with its time in words."""
    frame = await frame_of(page)
    found = (await page.needed(FACTOR)).data
    return found | {"since": frame.when(found["confirmedAt"])}


async def businesses_of(page: PageRequest) -> list[dict[str, Any]]:
    """The businesses of the person, each with its id and name."""
    return (await page.needed(ME)).data["businesses"]


async def show(page: PageRequest, **told: Any) -> Shown:
    """The factor, and the forms that there are for it now."""
    facts: dict[str, Any] = {
        "factor": await facts_of(page), "businesses": await businesses_of(page),
        "picture": None, "secret": "", "codes": None, **told,
    }  # fmt: skip
    return Shown("account/factor.html", facts, is_secret=bool(told))


async def begin(page: PageRequest) -> Shown:
    """Show a secret, once, as a picture and as a text."""
    begun = (await page.act(BEGIN)).data
    return await show(page, picture=_picture(begun["uri"]), secret=begun["secret"])


async def confirm(page: PageRequest) -> Shown:
    """Turn it on by its first code, and show the recovery codes, once."""
    told = await page.act(CONFIRM, body={"code": page.form.get("code", "")})
    return await show(page, codes=told.data["recoveryCodes"])


async def make_codes(page: PageRequest) -> Shown:
    """Show new recovery codes, once."""
    told = await page.act(NEW_CODES)
    return await show(page, codes=told.data["recoveryCodes"])


async def turn_off(page: PageRequest) -> Onward:
    """Turn it off."""
    await page.act(TURN_OFF)
    return Onward(_PAGE)


def _picture(text: str) -> dict[str, Any]:
    """A code for cameras, as the side of a drawing and the path in it."""
    code = segno.make_qr(text, error="m")
    rows = code.matrix_iter(border=_BORDER)
    path = StringIO()
    for y, row in enumerate(rows):
        for x, is_dark in enumerate(row):
            if is_dark:
                path.write(f"M{x} {y}.5h1")
    return {"size": code.symbol_size(border=_BORDER)[0], "path": path.getvalue()}


ROUTES = (
    PageRoute(
        "GET", _PAGE, show, before_factor=True, goal=Goal("factor.title", (FACTOR,), icon="user")
    ),
    PageRoute("POST", _PAGE, begin, refused=show, is_of_book=False, before_factor=True),
    PageRoute(
        "POST", f"{_PAGE}/confirm", confirm, refused=show, is_of_book=False, before_factor=True
    ),
    PageRoute("POST", f"{_PAGE}/codes", make_codes, refused=show, is_of_book=False),
    PageRoute("POST", f"{_PAGE}/off", turn_off, refused=show, is_of_book=False),
)
