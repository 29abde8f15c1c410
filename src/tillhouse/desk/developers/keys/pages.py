"""Pages of API keys: the list, a new one, and one with its scopes and its secret."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tillhouse.desk.developers.keys import operations as ops
from tillhouse.desk.developers.keys import words
from tillhouse.desk.developers.keys.apps import app_names
from tillhouse.desk.developers.keys.words import KEYS
from tillhouse.desk.frame.places import (
    LIST_CUSTOMERS,
    LIST_KEYS,
    LIST_ORDERS,
    LIST_PRODUCTS,
    LIST_STORES,
    frame_of,
)
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.session.forms import Form
from tillhouse.desk.wallet.operations import LIST_ACCOUNTS
from tillhouse.http.route import Scope
from tillhouse.kit.errors import Missing
from tillhouse.kit.secrets import Environment

NEW = f"{KEYS}/new"
_ONE = KEYS + "/{key_id}"
_SHOWN_MAX = 50
_ACCOUNTS_SHOWN = 25
# Calls that a new key can make at once, the one that tells of the key itself before all others.
_FIRST_CALLS = (
    ("voice:read", "/v1/voice/health"),
    *((one.route.guard.name, f"{one.route.path}?limit=1")
      for one in (LIST_PRODUCTS, LIST_ORDERS, LIST_CUSTOMERS, LIST_STORES)
      if isinstance(one.route.guard, Scope)),
)  # fmt: skip
_ENDED = ("revoked", "expired")


async def show_list(page: PageRequest) -> Shown:
    """The keys of the book that is shown, those in use first."""
    frame, chosen = await frame_of(page), page.request.query.get("app") or None
    found = await page.needed(LIST_KEYS, developer_app_id=chosen)
    catalogue, apps = await _catalogue(page), await app_names(page)
    own = [one for one in found.data if one["environment"] == page.mode]
    own.sort(key=lambda one: one["status"] in _ENDED)
    facts: dict[str, Any] = {
        "rows": [words.row(one, catalogue, apps, frame) for one in own[:_SHOWN_MAX]],
        "more": max(0, len(own) - _SHOWN_MAX),
        "apps": list(apps.items()),
        "app": chosen,
        "may_make": page.may(ops.MAKE),
    }
    return Shown("developers/keys/list.html", facts)


async def show_new(page: PageRequest) -> Shown:
    """The form of a new key, with the scopes of a preset where one is chosen."""
    apps, chosen = await app_names(page), page.request.query.get("preset")
    grantable = _grantable(page, await _catalogue(page))
    # A form that was sent and refused keeps the scopes that were ticked.
    form = page.form if page.form.pairs else words.preset(chosen, grantable)
    facts = await _form(page, form, grantable)
    facts |= {"apps": list(apps.items()), "presets": list(words.PRESETS), "preset": chosen}
    return await _with_faults(page, Shown("developers/keys/new.html", facts))


async def make(page: PageRequest) -> Shown:
    """Make a key, and tell its secret this once."""
    frame, form = await frame_of(page), page.form
    body = {name: value for name, value in words.body(form, frame.currency).items() if value}
    body |= {"environment": page.mode, "scopes": form.all("scopes")}
    if app := form.get("developer_app_id"):
        body["developer_app_id"] = app
    made = await page.act(ops.MAKE, body=body, key=form.get("idempotency_key"))
    return await _told(page, made.data, "made")


async def show_one(page: PageRequest) -> Shown:
    """One key: what it may do, from where, and what is known of it."""
    frame, form = await frame_of(page), page.form if "name" in page.form else None
    key = (await page.needed(ops.KEY, page.path["key_id"])).data
    if key["environment"] != page.mode:
        # Each page shows one book; the switch beside it leads to the other.
        raise Missing
    catalogue, apps = await _catalogue(page), await app_names(page)
    grantable = _grantable(page, catalogue)
    facts = await _form(page, form or words.fields(key, frame), grantable)
    facts |= {
        "key": key,
        "address": f"{KEYS}/{key['id']}",
        "facts": words.facts(key, apps, frame),
        "risk": words.highest_risk(key["scopes"], catalogue),
        "labels": [one["label"] for one in catalogue if one["name"] in key["scopes"]],
        "is_ended": key["status"] == "revoked",
        # A key beyond the right of a role can be ended by it, and no more.
        "beyond": [name for name in key["scopes"] if name not in grantable],
    }
    shown = Shown("developers/keys/key.html", facts)
    return await _with_faults(page, shown) if form else shown


async def change(page: PageRequest) -> Onward:
    """Change the fields that differ from what the key has."""
    frame, form = await frame_of(page), page.form
    key = (await page.needed(ops.KEY, page.path["key_id"])).data
    was = words.body(words.fields(key, frame), frame.currency)
    wanted = words.body(form, frame.currency)
    body = {name: value for name, value in wanted.items() if _differs(value, was[name])}
    await page.act(ops.CHANGE, page.path["key_id"], body=body)
    return Onward(f"{KEYS}/{key['id']}?done=changed")


async def rotate(page: PageRequest) -> Shown:
    """Give it a new secret, and tell that this once."""
    made = await page.act(ops.ROTATE, page.path["key_id"], key=page.form.get("idempotency_key"))
    return await _told(page, made.data, "rotated")


async def view_secret(page: PageRequest) -> Shown:
    """Tell its secret again, after the password."""
    viewed = await page.act(ops.VIEW_SECRET, page.path["key_id"])
    key = (await page.needed(ops.KEY, page.path["key_id"])).data
    return await _told(page, {**key, "secret": viewed.data["secret"]}, "viewed")


async def revoke(page: PageRequest) -> Onward:
    """End it at once."""
    await page.act(ops.REVOKE, page.path["key_id"])
    return Onward(f"{KEYS}/{page.path['key_id']}")


async def delete(page: PageRequest) -> Onward:
    """Remove it for good."""
    await page.act(ops.DELETE, page.path["key_id"])
    return Onward(KEYS)


async def _form(page: PageRequest, form: Form, grantable: set[str]) -> dict[str, Any]:
    frame, catalogue = await frame_of(page), await _catalogue(page)
    accounts = await page.read(LIST_ACCOUNTS, limit=_ACCOUNTS_SHOWN)
    scopes = page.services.declared.scopes
    offered = grantable | set(form.all("scopes"))
    return {
        "fields": form,
        "groups": words.groups(catalogue, grantable, form.all("scopes")),
        "accounts": [(one["id"], one["accountName"] or one["accountNumber"])
                     for one in (accounts.data if accounts else [])],
        "chosen_accounts": form.all("withdrawal_policy.allowed_payout_account_ids"),
        "may_withdraw": bool(scopes.withdrawals(offered)),
        "currency": frame.currency,
        "is_live": page.mode == "live",
    }  # fmt: skip


async def _catalogue(page: PageRequest) -> Sequence[words.Data]:
    return (await page.needed(ops.SCOPES)).data


def _grantable(page: PageRequest, catalogue: Sequence[words.Data]) -> set[str]:
    """The scopes that the role may give to a key, by the rule that refuses the others."""
    scopes, role = page.services.declared.scopes, page.member.role
    return {one["name"] for one in catalogue if not scopes.beyond(role, [one["name"]])}


def _differs(value: Any, was: Any) -> bool:
    return sorted(value) != sorted(was) if isinstance(value, list) else value != was


async def _with_faults(page: PageRequest, shown: Shown) -> Shown:
    if page.refusal is None:
        return shown
    sent = words.body(page.form, (await frame_of(page)).currency)
    facts = {**shown.facts, "faults": words.faults_of(page.refusal, sent)}
    return msgspec.structs.replace(shown, facts=facts)


async def _told(page: PageRequest, key: words.Data, how: str) -> Shown:
    """The one page that has the secret in it."""
    secret: str | None = key["secret"]
    base = page.services.settings.public_url
    environment: Environment = key["environment"]
    path = next((path for scope, path in _FIRST_CALLS if scope in key["scopes"]), None)
    facts: dict[str, Any] = {
        "key": key,
        "how": how,
        "secret": secret,
        "address": f"{KEYS}/{key['id']}",
        "is_live": environment == "live",
        # None of a key that reads none of these.
        "command": path and f'curl -sS "{base}{path}" -H "Authorization: Bearer {secret}"',
    }
    return Shown("developers/keys/secret.html", facts, is_secret=True)


ROUTES = (
    PageRoute("GET", KEYS, show_list),
    PageRoute("GET", NEW, show_new, goal=Goal("api_keys.new", (ops.MAKE,), "action")),
    PageRoute("POST", NEW, make, refused=show_new),
    PageRoute("GET", _ONE, show_one),
    PageRoute("POST", f"{_ONE}/change", change, refused=show_one),
    PageRoute("POST", f"{_ONE}/rotate", rotate, refused=show_one),
    PageRoute("POST", f"{_ONE}/secret", view_secret, refused=show_one),
    PageRoute("POST", f"{_ONE}/revoke", revoke, refused=show_one),
    PageRoute("POST", f"{_ONE}/delete", delete, refused=show_one),
)
