"""A key, its scopes and its fields in a form: from what operations tell to what a page shows."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from tillhouse.desk.frame.places import Frame
from tillhouse.desk.frame.sentences import counted, fault, sentence
from tillhouse.desk.frame.words import exact, moment
from tillhouse.desk.session.forms import Form
from tillhouse.kit.errors import Problem

KEYS = "/desk/developers/keys"
_RISKS = ("low", "medium", "high", "critical")
_LISTS = ("allowed_origins", "allowed_ip_ranges")
_POLICY = "withdrawal_policy"
_ACCOUNTS = f"{_POLICY}.allowed_payout_account_ids"
_AMOUNTS = ("max_per_transaction", "max_per_day")
_ITEM = re.compile(r"([\w.]+)\[([0-9]+)\].*")
_SECOND = timedelta(seconds=1)
Data = Mapping[str, Any]


class ScopeChoice(msgspec.Struct, frozen=True):
    """A scope that a form offers."""

    name: str
    label: str
    risk: str
    is_chosen: bool


class KeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A key in the list."""

    address: str
    name: str
    public_key: str
    app: str
    scopes: str
    risk: str
    places: str
    used: str
    used_from: str | None
    expires: str
    state: str


# The scopes of a shop online: its goods, its customers and its sales.
_SHOP = frozenset({
    "customers:read", "customers:write", "orders:read", "orders:write", "payment_links:read",
    "payment_links:write", "products:read", "promotions:read", "stores:read",
})  # fmt: skip
# Scopes that are chosen at once, by a link of the form.
PRESETS: Mapping[str, Callable[[str], bool]] = {
    "none": lambda _: False,
    "read": lambda name: name.endswith(":read"),
    "shop": _SHOP.__contains__,
    "everything": lambda _: True,
}


def preset(wanted: str | None, grantable: Iterable[str]) -> Form:
    """A new form with the scopes of a preset, as far as the role may grant them."""
    is_chosen = PRESETS.get(wanted or "none", PRESETS["none"])
    return Form([("scopes", name) for name in sorted(grantable) if is_chosen(name)])


def row(one: Data, catalogue: Sequence[Data], apps: Mapping[str, str], frame: Frame) -> KeyRow:
    """A key as the list shows it."""
    return KeyRow(
        address=f"{KEYS}/{one['id']}",
        name=one["name"],
        public_key=one["publicKey"],
        app=apps.get(one["developerAppId"], ""),
        scopes=counted("api_keys.scopes", len(one["scopes"])),
        risk=highest_risk(one["scopes"], catalogue),
        places=", ".join(one["allowedIpRanges"][:2]) or sentence("api_keys.anywhere"),
        used=frame.when(one["lastUsedAt"]) or sentence("api_keys.never"),
        used_from=one["lastUsedIp"],
        expires=frame.when(one["expiresAt"]) or sentence("api_keys.never"),
        state=one["status"],
    )


def highest_risk(names: Iterable[str], catalogue: Sequence[Data]) -> str:
    """The highest risk among some scopes."""
    risks = {one["name"]: _RISKS.index(one["risk"]) for one in catalogue}
    return _RISKS[max((risks.get(name, 0) for name in names), default=0)]


def groups(
    catalogue: Sequence[Data], grantable: set[str], chosen: Sequence[str]
) -> list[tuple[str, list[ScopeChoice]]]:
    """The scopes that may be chosen, by their groups; one that is chosen can be taken away."""
    found: dict[str, list[ScopeChoice]] = {}
    for one in catalogue:
        name = one["name"]
        if name in grantable or name in chosen:
            choice = ScopeChoice(name, one["label"], one["risk"], name in chosen)
            found.setdefault(one["group"], []).append(choice)
    return list(found.items())


def facts(one: Data, apps: Mapping[str, str], frame: Frame) -> list[tuple[str, str, None]]:
    """The facts of a key, as label and value."""
    told = (
        ("public_key", one["publicKey"]),
        ("secret", f"{one['secretPrefix']}…"),
        ("app", apps.get(one["developerAppId"])),
        ("used", frame.when(one["lastUsedAt"]) or sentence("api_keys.never")),
        ("used_from", one["lastUsedIp"]),
        ("expires", frame.when(one["expiresAt"]) or sentence("api_keys.never")),
        ("revoked", frame.when(one["revokedAt"])),
        ("policy", _limits(one["withdrawalPolicy"])),
        ("created", frame.when(one["createdAt"])),
        ("id", one["id"]),
    )
    return [(sentence(f"api_key_fact.{name}"), value, None) for name, value in told if value]


def _limits(policy: Data | None) -> str | None:
    if policy is None:
        return None
    most, a_day = (exact(policy[name], policy["currency"])
                   for name in ("maxPerTransaction", "maxPerDay"))  # fmt: skip
    return sentence("api_keys.limits", most=most, a_day=a_day)


def fields(one: Data, frame: Frame) -> Form:
    """A key as the form that changes it begins; days are those of the business."""
    pairs = [("name", one["name"])]
    pairs += [("scopes", name) for name in one["scopes"]]
    pairs += [
        ("allowed_origins", "\n".join(one["allowedOrigins"])),
        ("allowed_ip_ranges", "\n".join(one["allowedIpRanges"])),
    ]
    # A day means its end, which is the beginning of the next.
    expires = one["expiresAt"] and moment(one["expiresAt"], frame.zone) - _SECOND
    pairs.append(("expires_at", f"{expires:%Y-%m-%d}" if expires else ""))
    policy = one["withdrawalPolicy"]
    if policy:
        pairs += [
            (f"{_POLICY}.max_per_transaction", f"{policy['maxPerTransaction']}"),
            (f"{_POLICY}.max_per_day", f"{policy['maxPerDay']}"),
        ]
        pairs += [(_ACCOUNTS, one) for one in policy["allowedPayoutAccountIds"] or ()]
    return Form(pairs)


def body(form: Form, currency: str) -> dict[str, Any]:
    """The body that a form stands for: every field, the empty ones as nothing."""
    found: dict[str, Any] = {
        "name": form.get("name", ""),
        "scopes": form.all("scopes"),
        "expires_at": form.get("expires_at") or None,
        "withdrawal_policy": _policy(form, currency),
    }
    return found | {name: form.get(name, "").split() for name in _LISTS}


def _policy(form: Form, currency: str) -> dict[str, Any] | None:
    amounts = {name: form.get(f"{_POLICY}.{name}", "") for name in _AMOUNTS}
    if not any(amounts.values()):
        return None
    policy: dict[str, Any] = {name: value for name, value in amounts.items() if value}
    policy["currency"] = currency
    if accounts := form.all(_ACCOUNTS):
        policy["allowed_payout_account_ids"] = accounts
    return policy


def faults_of(problem: Problem, sent: Mapping[str, Any]) -> dict[str, str]:
    """The faults by the fields of the form; that of one line of a list names the line."""
    found: dict[str, str] = {}
    for detail in problem.details or ():
        item, message = _ITEM.fullmatch(detail.field), fault(detail.message)
        field = item[1] if item else detail.field
        if item and field in _LISTS:
            message = f"{sent[field][int(item[2])]} {message}"
        found.setdefault(field, message)
    return found
