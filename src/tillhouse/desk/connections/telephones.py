"""Telephone numbers that calls come from: added, paused, changed and removed."""

from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from tillhouse.desk.connections import operations as ops
from tillhouse.desk.fields import number
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import Frame, frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.page import Goal, Live, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.session.forms import Form
from tillhouse.providers.telephony.provider import ProviderName

_LIST = "/desk/connections/telephones"
_NEW, _ONE = f"{_LIST}/new", _LIST + "/{voice_number_id}"
_PER_PAGE, _AGENTS_SHOWN = 25, 100
_LIVE = Live((ops.TELEPHONE, ops.CALL), {"voice.call.": ("call",)})
_SETTING, _HOURS = "settings.", "calling_hours."
# The providers of a live book, and what each needs; the sort says how it is typed.
_SETTINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "simulator": (),
    "sip": (
        ("host", "needed"), ("port", "text"), ("username", "text"), ("password", "secret"),
        ("domain", "text"), ("caller_name", "text"), ("external_address", "text"),
        ("media_ports", "text"),
    ),
    "twilio": (
        ("account_sid", "needed"), ("auth_token", "secret"), ("machine_detection", "choice"),
    ),
}  # fmt: skip
_AT_FIRST = {
    "max_concurrent_calls": "1", "calls_per_second": "1",
    f"{_HOURS}from": "08:00", f"{_HOURS}until": "21:00",
}  # fmt: skip
Data = Mapping[str, Any]


class TestCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that tries a number out."""

    phone: str
    state: str
    # Why it waits, or ended; None: neither is known.
    why: str | None
    is_under_way: bool


class TelephoneRow(msgspec.Struct, frozen=True, kw_only=True):
    """A number in a list."""

    address: str
    phone: str
    label: str
    provider: str
    state: str
    is_default: bool
    active: int
    most: int


def row(one: Data) -> TelephoneRow:
    """A number as lists show it."""
    return TelephoneRow(
        address=f"{_LIST}/{one['id']}",
        phone=one["phoneNumber"],
        label=one["label"],
        provider=one["provider"],
        state=one["status"],
        is_default=one["isDefault"],
        active=one["activeCalls"],
        most=one["maxConcurrentCalls"],
    )


def test_call(call: Data) -> TestCall:
    """A call as the page of its number shows it."""
    return TestCall(
        phone=call["customer"]["phoneNumber"],
        state=call["status"],
        why=call["queueReason"] or call["endedReason"],
        is_under_way=call["status"] in ("queued", "dialing", "ringing", "in_progress"),
    )


async def show_list(page: PageRequest) -> Shown:
    """Every number, the default one first."""
    query = page.request.query
    found = await page.needed(ops.LIST_TELEPHONES, limit=_PER_PAGE, page=query.get("page"))
    facts = {
        "rows": list(map(row, found.data)),
        "pager": pager(_LIST, query, found.extra["meta"]),
        "may_add": page.may(ops.ADD_TELEPHONE),
    }
    return Shown("connections/telephones.html", facts)


async def show_new(page: PageRequest) -> Shown:
    """The form of a new number, for the provider that is chosen."""
    page.check(ops.ADD_TELEPHONE)
    frame = await frame_of(page)
    provider = _provider(page)
    facts = await _beside(page, frame, None) | {
        "provider": provider,
        "providers": [] if page.mode == "test" else _of_live(),
        "settings": _SETTINGS[provider],
        "values": page.form if page.form.pairs else _AT_FIRST,
    }
    return Shown("connections/telephone_new.html", facts)


async def add(page: PageRequest) -> Onward:
    """Add a number to call from."""
    page.check(ops.ADD_TELEPHONE)
    provider = _provider(page)
    body = _body(page.form) | {
        "phone_number": page.form.get("phone_number", ""),
        "provider": provider,
        "settings": _settings(page.form, provider),
    }
    made = await page.act(ops.ADD_TELEPHONE, body=body, key=page.form.get("idempotency_key"))
    return Onward(f"{_LIST}/{made.data['id']}")


async def show_one(page: PageRequest) -> Shown:
    """One number: its state, its bounds, and the account that it calls by."""
    one = (await page.needed(ops.TELEPHONE, page.path["voice_number_id"])).data
    frame = await frame_of(page)
    facts = await _beside(page, frame, one) | {
        "one": row(one),
        "facts": _facts(one, frame),
        "settings": _SETTINGS[one["provider"]],
        "values": page.form if "label" in page.form else _values(one),
        # The account is typed anew each time, but for what was just refused.
        "typed": page.form,
        "may_change": page.may(ops.CHANGE_TELEPHONE),
        "may_delete": page.may(ops.DELETE_TELEPHONE),
        "may_call": page.may(ops.PLACE_CALL),
        "tried": await _tried(page),
    }
    return Shown("connections/telephone.html", facts)


async def change(page: PageRequest) -> Onward:
    """Change its name and its bounds."""
    return await _patch(page, _body(page.form))


async def change_settings(page: PageRequest) -> Onward:
    """Replace all that the provider was told; what is kept is shown by no answer."""
    one = (await page.needed(ops.TELEPHONE, page.path["voice_number_id"])).data
    return await _patch(page, {"settings": _settings(page.form, one["provider"])})


async def change_status(page: PageRequest) -> Onward:
    """Pause it, or let calls go out by it again."""
    return await _patch(page, {"status": page.form.get("status", "")})


async def try_out(page: PageRequest) -> Onward:
    """Call a telephone of one's own from the number, with an agent that talks."""
    page.check(ops.PLACE_CALL)
    number_id, form = page.path["voice_number_id"], page.form
    body = {
        "customer_phone": form.get("customer_phone", ""),
        "purpose": sentence("telephones.try_purpose"),
        "business_voice_number_id": number_id,
        "ai_agent_id": form.get("ai_agent_id", ""),
        "max_attempts": 1,
    }
    made = await page.act(ops.PLACE_CALL, body=body, key=form.get("idempotency_key"))
    return Onward(f"{_LIST}/{number_id}?call={made.data['id']}")


async def delete(page: PageRequest) -> Onward:
    """Take it out of use."""
    page.check(ops.DELETE_TELEPHONE)
    await page.act(ops.DELETE_TELEPHONE, page.path["voice_number_id"])
    return Onward(_LIST)


async def _patch(page: PageRequest, body: dict[str, Any]) -> Onward:
    page.check(ops.CHANGE_TELEPHONE)
    number_id = page.path["voice_number_id"]
    await page.act(ops.CHANGE_TELEPHONE, number_id, body=body)
    return Onward(f"{_LIST}/{number_id}")


async def _beside(page: PageRequest, frame: Frame, one: Data | None) -> dict[str, Any]:
    """The stores and agents that a form chooses from; the number's own are always among them."""
    agents = await page.read(ops.LIST_AGENTS, limit=_AGENTS_SHOWN)
    found = {
        "stores": {store["id"]: store["name"] for store in frame.stores},
        "agents": {agent["id"]: agent["name"] for agent in (agents.data if agents else ())},
    }
    for name, own in (("stores", "storeId"), ("agents", "defaultAgentId")):
        if one and one[own]:
            found[name].setdefault(one[own], one[own])
    return {name: list(choices.items()) for name, choices in found.items()}


async def _tried(page: PageRequest) -> TestCall | None:
    """The call that was just placed to try the number out."""
    call_id = page.request.query.get("call")
    found = await page.read(ops.CALL, call_id) if call_id else None
    return test_call(found.data) if found else None


def _of_live() -> list[str]:
    return [name for name in get_args(ProviderName) if name != "simulator"]


def _provider(page: PageRequest) -> str:
    """The provider of a new number: in test the simulator, in live one of the others."""
    if page.mode == "test":
        return "simulator"
    wanted = page.form.get("provider", page.request.query.get("provider"))
    return wanted if wanted in _of_live() else _of_live()[0]


def _settings(form: Form, provider: str) -> dict[str, str]:
    """The settings that a form stands for; what is empty isn't said."""
    typed = {name: form.get(_SETTING + name, "").strip() for name, _ in _SETTINGS[provider]}
    return {name: value for name, value in typed.items() if value}


def _body(form: Form) -> dict[str, Any]:
    hours = {name: form.get(_HOURS + name, "") for name in ("from", "until")}
    return {
        "label": form.get("label", ""),
        "is_default": "is_default" in form,
        "default_agent_id": form.get("default_agent_id") or None,
        "store_id": form.get("store_id") or None,
        "max_concurrent_calls": number(form.get("max_concurrent_calls", "")),
        "calls_per_second": number(form.get("calls_per_second", "")),
        "calling_hours": hours if any(hours.values()) else None,
        "allowed_prefixes": form.get("allowed_prefixes", "").split(),
    }


def _values(one: Data) -> dict[str, str]:
    hours = one["callingHours"] or {"from": "", "until": ""}
    return {
        "label": one["label"],
        "is_default": "true" if one["isDefault"] else "",
        "default_agent_id": one["defaultAgentId"] or "",
        "store_id": one["storeId"] or "",
        "max_concurrent_calls": str(one["maxConcurrentCalls"]),
        "calls_per_second": str(one["callsPerSecond"]),
        f"{_HOURS}from": hours["from"],
        f"{_HOURS}until": hours["until"],
        "allowed_prefixes": " ".join(one["allowedPrefixes"]),
    }


def _facts(one: Data, frame: Frame) -> list[tuple[str, str, None]]:
    hours = one["callingHours"]
    told = (
        ("provider", sentence(f"voice_provider.{one['provider']}")),
        ("country", one["country"]),
        ("calls", sentence("telephones.lines", active=one["activeCalls"],
                           most=one["maxConcurrentCalls"])),
        ("hours", sentence("telephones.hours", first=hours["from"], last=hours["until"])
         if hours else sentence("telephones.at_any_time")),
        ("added", frame.when(one["createdAt"])),
    )  # fmt: skip
    return [(sentence(f"voice_fact.{name}"), text, None) for name, text in told if text]


ROUTES = (
    PageRoute("GET", _LIST, show_list, goal=Goal("telephones.title", (ops.LIST_TELEPHONES,))),
    PageRoute("GET", _NEW, show_new, goal=Goal("telephones.new", (ops.ADD_TELEPHONE,), "action")),
    PageRoute("POST", _NEW, add, refused=show_new),
    PageRoute("GET", _ONE, show_one, live=_LIVE),
    PageRoute("POST", _ONE, change, refused=show_one),
    PageRoute("POST", f"{_ONE}/settings", change_settings, refused=show_one),
    PageRoute("POST", f"{_ONE}/status", change_status, refused=show_one),
    PageRoute("POST", f"{_ONE}/call", try_out, refused=show_one),
    PageRoute("POST", f"{_ONE}/delete", delete, refused=show_one),
)
