"""The page that says which roles need a second factor."""

from typing import Any

import msgspec

from tillhouse.desk.page import FormRefused, Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.people import operations as ops
from tillhouse.kit.errors import Problem

PAGE = "/desk/people/second-factor"


async def show(page: PageRequest) -> Shown:
    """Each role with a box; who isn't an owner reads it alone."""
    return await _shown(page)


async def change(page: PageRequest) -> Shown | Onward:
    """Take the boxes that are ticked; it holds on the next click of each person."""
    try:
        await page.act(ops.SET_FACTORS, body={"roles": page.form.all("roles")})
    except FormRefused as refused:
        return await _shown(page, refused.problem)
    return Onward(f"{PAGE}?saved=1")


async def _shown(page: PageRequest, refusal: Problem | None = None) -> Shown:
    found = await page.needed(ops.FACTORS)
    roles: list[dict[str, Any]] = found.data["roles"]
    if refusal is not None:
        given = page.form.all("roles")
        roles = [one | {"isRequired": one["role"] in given} for one in roles]
    shown = Shown("people/factors.html", {
        "roles": roles,
        "may_change": page.member.role == "owner",
        "is_saved": "saved" in page.request.query,
    })  # fmt: skip
    return msgspec.structs.replace(shown, refusal=refusal)


ROUTES = (
    PageRoute("GET", PAGE, show, goal=Goal("factors.title", (ops.FACTORS,))),
    PageRoute("POST", PAGE, change),
)
