"""The facts that the generated tests need about the routes of members."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from tests.factor import FACTOR, code, turn_on
from tests.make import Business, Make
from tillhouse.accounts.forgotten.actions import make_link
from tillhouse.accounts.members.actions import token_of
from tillhouse.kit.clock import now


async def _make_member(business: Business, _environment: str) -> str:
    app = business.anybody.app
    return (await Make(app, app.services).member(business, "cashier")).user_id


async def _remove_member(business: Business, user_id: str) -> None:
    await business.step_up()
    await business.owner.request("DELETE", f"/v1/members/{user_id}", {}, status=200)


async def _accepting(business: Business) -> dict[str, Any]:
    """An invitation of somebody new."""
    await business.step_up()
    body = {"email": f"{secrets.token_hex(8)}@example.com", "role": "cashier"}
    made = (await business.owner.post("/v1/members", body, status=201)).data
    pepper = business.anybody.app.services.vault.pepper
    token = token_of(pepper, UUID(business.id), UUID(made["id"]))
    return {"token": token, "name": "Ada Cashier", "password": "six brown bicycles"}


async def _looking_at_invitation(business: Business) -> dict[str, Any]:
    return {"token": (await _accepting(business))["token"]}


async def _looking_at_link(business: Business) -> dict[str, Any]:
    return {"token": (await _resetting(business))["token"]}


async def _resetting(business: Business) -> dict[str, Any]:
    """A link of somebody else: the sessions of its person end."""
    app = business.anybody.app
    person = await Make(app, app.services).business()
    async with app.services.pool.transaction() as db:
        made = await make_link(app.services, db, person.email, now())
    assert made is not None
    return {"token": made[1], "new_password": "six brown bicycles"}


async def _confirming(business: Business) -> dict[str, Any]:
    """The first code of a second factor that was begun."""
    await business.step_up()
    await business.owner.delete(FACTOR, status=200)
    begun = (await business.owner.post(FACTOR, status=201)).data
    return {"code": code(begun["secret"])}


async def _with_factor(business: Business) -> dict[str, Any]:
    """Nothing to send, but a factor that is on."""
    await business.step_up()
    await business.owner.delete(FACTOR, status=200)
    await turn_on(business)
    return {}


MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {"user_id": _make_member}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {"user_id": _remove_member}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    "POST /v1/members": lambda _: {
        "email": f"{secrets.token_hex(8)}@example.com",
        "role": "cashier",
    },
    "POST /api/auth/forgot-password": lambda _: {"email": f"{secrets.token_hex(8)}@example.com"},
    "PUT /v1/business/second-factor": lambda _: {"roles": ["kitchen"]},
    "PATCH /v1/business": lambda _: {"name": "Ada's Bar"},
    "PATCH /v1/members/{user_id}": lambda _: {"role": "manager"},
    "DELETE /v1/members/{user_id}": lambda _: {},
}
OTHER_BODIES: dict[str, dict[str, Any]] = {
    "POST /v1/members": {"email": "other@example.com", "role": "kitchen"},
    "DELETE /v1/members/{user_id}": {"revoke_keys": True},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {
    "POST /api/auth/accept-invitation": _accepting,
    "POST /api/auth/accept-invitation/preview": _looking_at_invitation,
    "POST /api/auth/reset-password": _resetting,
    "POST /api/auth/reset-password/preview": _looking_at_link,
    f"POST {FACTOR}/confirm": _confirming,
    f"POST {FACTOR}/recovery-codes": _with_factor,
}
