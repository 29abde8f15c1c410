"""The page that says which roles need a second factor."""

from typing import Any

from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.people import operations as ops

PAGE = "/desk/people/second-factor"


async def show(page: PageRequest) -> Shown:
    """Each role with a box; who isn't an owner reads it alone."""
    found = await page.needed(ops.FACTORS)
    roles: list[dict[str, Any]] = found.data["roles"]
    if page.refusal is not None:
        given = page.form.all("roles")
        roles = [one | {"isRequired": one["role"] in given} for one in roles]
    return Shown("people/factors.html", {
        "roles": roles,
        "may_change": page.member.role == "owner",
        "is_saved": "saved" in page.request.query,
    })  # fmt: skip


async def change(page: PageRequest) -> Onward:
    """Take the boxes that are ticked; it holds on the next click of each person."""
    await page.act(ops.SET_FACTORS, body={"roles": page.form.all("roles")})
    return Onward(f"{PAGE}?saved=1")


ROUTES = (
    PageRoute("GET", PAGE, show, goal=Goal("factors.title", (ops.FACTORS,))),
    PageRoute("POST", PAGE, change, refused=show),
)
