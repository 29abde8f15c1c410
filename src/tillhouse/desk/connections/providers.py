"""Payment providers: one to connect, to choose or to disconnect."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from tillhouse.desk.fields import named_by
from tillhouse.desk.frame.places import LIST_PROVIDERS, Frame, frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import named
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import Onward, PageRequest, PageRoute, Shown
from tillhouse.kit.errors import Missing
from tillhouse.payins.room import ROOM as PAYINS

CHANGE = Operation(PAYINS, "PUT", "/v1/payment-providers")
_LIST = "/desk/connections"
_ONE = _LIST + "/{provider}"
Data = Mapping[str, Any]


class ProviderShown(msgspec.Struct, frozen=True, kw_only=True):
    """A payment provider as its page tells it."""

    provider: str
    name: str
    address: str
    # `down` is one that is connected, and gave no answer.
    state: str
    is_connected: bool
    is_selected: bool
    hint: str | None
    trouble: str | None
    opens: str
    other_amounts: str
    back: str
    hook: str
    # Each field by its name, with its label.
    secrets: list[tuple[str, str]]
    facts: list[tuple[str, str, None]]


async def show_one(page: PageRequest) -> Shown:
    """One provider: its keys, whether it collects, and where its notices go."""
    frame = await frame_of(page)
    found = await page.needed(LIST_PROVIDERS)
    named_one = [one for one in found.data if one["provider"] == page.path["provider"]]
    if not named_one:
        raise Missing
    facts = {"one": shown(named_one[0], frame, page.request.now), "may_change": page.may(CHANGE)}
    return Shown("connections/provider.html", facts)


async def connect(page: PageRequest) -> Onward:
    """Keep the keys of a provider, after asking it whether they are good if that is wished."""
    secrets = named_by(page.form, "secrets")
    return await _change(page, {"secrets": secrets, "check": bool(page.form.get("check"))})


async def collect(page: PageRequest) -> Onward:
    """Let new payments be collected by it, or not any more."""
    return await _change(page, {"selected": page.form.get("selected") == "true"})


async def disconnect(page: PageRequest) -> Onward:
    """Forget the keys."""
    return await _change(page, {"secrets": None})


async def _change(page: PageRequest, body: dict[str, Any]) -> Onward:
    provider = page.path["provider"]
    await page.act(CHANGE, body={"provider": provider, **body})
    return Onward(f"{_LIST}/{provider}")


def shown(one: Data, frame: Frame, now: datetime) -> ProviderShown:
    """A provider as its page and the list tell it."""
    can, until = one["capabilities"], one["downUntil"]
    is_down = bool(until) and datetime.fromisoformat(until) > now
    is_connected = one["status"] == "connected"
    both = (can["refunds"], can["payouts"])
    back = {(True, True): "both", (True, False): "refunds", (False, True): "payouts"}
    at = frame.when(until) if is_down else ""
    opens = sentence(f"opens.{can['opens']}")
    error = one["lastError"] or ""
    trouble = sentence("connections.down", when=at, error=error) if is_down else None
    amounts = sentence(f"other_amounts.{'exact' if can['takesExactOnly'] else 'any'}")
    told = (
        ("key", one["hint"]),
        ("opens", opens),
        ("other_amounts", amounts),
        ("back", sentence(f"abilities.{back.get(both, 'none')}")),
        ("currencies", ", ".join(can["currencies"] or ())),
        ("error", one["lastError"]),
    )
    return ProviderShown(
        provider=one["provider"],
        name=one["provider"].capitalize(),
        address=f"{_LIST}/{one['provider']}",
        state="down" if is_connected and is_down else one["status"],
        is_connected=is_connected,
        is_selected=one["selected"],
        hint=one["hint"],
        trouble=trouble,
        opens=opens,
        other_amounts=amounts,
        back=sentence(f"abilities.{back.get(both, 'none')}"),
        hook=one["hookUrl"],
        secrets=[(f"secrets.{name}", named("secret", name)) for name in one["secretNames"]],
        facts=[(sentence(f"provider_fact.{name}"), text, None) for name, text in told if text],
    )


ROUTES = (
    PageRoute("GET", _ONE, show_one),
    PageRoute("POST", f"{_ONE}/keys", connect, refused=show_one),
    PageRoute("POST", f"{_ONE}/collect", collect, refused=show_one),
    PageRoute("POST", f"{_ONE}/disconnect", disconnect, refused=show_one),
)
