"""Pages of people: the list with the rights of roles, one person, an invitation, second factors."""

from collections.abc import Mapping
from typing import Any

from tillhouse.access.scopes import ROLES
from tillhouse.accounts.members.rules import check_right
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import LIST_MEMBERS, Frame, frame_of
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.people import operations as ops
from tillhouse.desk.people.rights import rights
from tillhouse.kit.errors import Forbidden
from tillhouse.providers.mail.jobs import is_set

_LIST = "/desk/people"
_INVITE = _LIST + "/invite"
_ONE = _LIST + "/{member_id}"
_FACTORS = _LIST + "/second-factor"
_PER_PAGE = 25
# The role beside the owner that a narrow page shows, unless another is asked for.
_BESIDE = "cashier"
Data = Mapping[str, Any]


async def show_list(page: PageRequest) -> Shown:
    """The people and those who are invited, then what each role may do."""
    frame, query = await frame_of(page), page.request.query
    found = await page.needed(LIST_MEMBERS, limit=_PER_PAGE, page=query.get("page"))
    role, kept = query.get("role"), {name: query[name] for name in query if name != "done"}
    facts: dict[str, Any] = {
        "people": [_shown(page, one, frame) for one in found.data],
        "pager": pager(_LIST, {"role": role or ""} | kept, found.extra["meta"]),
        "rights": rights(page.services.declared.roles),
        "roles": ROLES,
        "beside": role if role in ROLES[1:] else _BESIDE,
    }
    return Shown("people/list.html", facts)


async def show_one(page: PageRequest) -> Shown:
    """One person, with the forms of what the caller may change."""
    return await _one(page, "people/member.html")


async def show_remove(page: PageRequest) -> Shown:
    """The form that removes a person, with what goes along."""
    return await _one(page, "people/remove.html")


async def show_invite(page: PageRequest) -> Shown:
    """The form of an invitation."""
    page.check(ops.INVITE)
    facts = {"roles": _roles(page), "is_mailed": is_set(page.services)}
    return Shown("people/invite.html", facts)


async def invite(page: PageRequest) -> Shown:
    """Invite somebody; the link is on the page that follows, and on no other."""
    body = {name: page.form.get(name, "") for name in ("email", "role")}
    made = await page.act(ops.INVITE, body=body, key=page.form.get("idempotency_key"))
    token = made.data["token"]
    frame = await frame_of(page)
    facts: dict[str, Any] = {
        "one": _shown(page, made.data | {"name": None, "lastSeenAt": None}, frame),
        # None when the form was sent before: the link was shown then.
        "link": token and f"{page.services.settings.public_url}/desk/join/{token}",
        "is_mailed": is_set(page.services),
    }
    return Shown("people/invited.html", facts, is_secret=True)


async def change(page: PageRequest) -> Onward:
    """Give a person another role."""
    body: dict[str, Any] = {"role": page.form.get("role", "")}
    return await _done(page, ops.CHANGE, body | _revoking(page))


async def end_sessions(page: PageRequest) -> Onward:
    """Sign a person out of the business, on every device."""
    return await _done(page, ops.END_SESSIONS, None)


async def remove(page: PageRequest) -> Onward:
    """Remove a person, or take an invitation back."""
    await _done(page, ops.REMOVE, _revoking(page))
    return Onward(f"{_LIST}?done=removed")


def _revoking(page: PageRequest) -> dict[str, bool]:
    return {"revoke_keys": True} if page.form.get("revoke_keys") else {}


async def _done(page: PageRequest, operation: Operation, body: Any) -> Onward:
    member_id = page.path["member_id"]
    await page.act(operation, member_id, body=body)
    return Onward(f"{_LIST}/{member_id}")


async def _one(page: PageRequest, template: str) -> Shown:
    frame = await frame_of(page)
    found = await page.needed(ops.MEMBER, page.path["member_id"])
    facts: dict[str, Any] = {
        "one": _shown(page, found.data, frame),
        "keys": found.data["keys"],
        "roles": _roles(page),
        "may_change": _may_give(page, found.data["role"]),
    }
    return Shown(template, facts)


def _roles(page: PageRequest) -> list[str]:
    """The roles that the caller may give."""
    return [role for role in ROLES if _may_give(page, role)]


def _may_give(page: PageRequest, role: str) -> bool:
    try:
        check_right(page.member.role, role)
    except Forbidden:
        return False
    return True


def _shown(page: PageRequest, one: Data, frame: Frame) -> dict[str, Any]:
    """A person, or an invitation, with the times in words."""
    return {
        **one,
        "address": f"{_LIST}/{one['id']}",
        "is_self": one["id"] == str(page.member.user_id),
        "is_invited": one.get("status") == "invited",
        "seen": frame.when(one.get("lastSeenAt")),
        "joined": frame.when(one.get("joinedAt")),
        "until": frame.when(one.get("expiresAt")),
    }


async def show_factors(page: PageRequest) -> Shown:
    """Each role with a box for its second factor; who isn't an owner reads it alone."""
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


async def require_factors(page: PageRequest) -> Onward:
    """Take the boxes that are ticked; it holds on the next click of each person."""
    await page.act(ops.SET_FACTORS, body={"roles": page.form.all("roles")})
    return Onward(f"{_FACTORS}?saved=1")


ROUTES = (
    PageRoute("GET", _LIST, show_list),
    PageRoute(
        "GET", _INVITE, show_invite, goal=Goal("people.invite_title", (ops.INVITE,), "action")
    ),
    PageRoute("POST", _INVITE, invite, refused=show_invite),
    PageRoute("GET", _FACTORS, show_factors, goal=Goal("factors.title", (ops.FACTORS,))),
    PageRoute("POST", _FACTORS, require_factors, refused=show_factors),
    PageRoute("GET", _ONE, show_one),
    PageRoute("POST", f"{_ONE}/role", change, refused=show_one),
    PageRoute("POST", f"{_ONE}/end-sessions", end_sessions, refused=show_one),
    PageRoute("GET", f"{_ONE}/remove", show_remove),
    PageRoute("POST", f"{_ONE}/remove", remove, refused=show_remove),
)
