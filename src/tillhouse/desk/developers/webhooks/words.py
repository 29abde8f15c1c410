"""Endpoints and deliveries: from what operations tell to what a page shows."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from markupsafe import Markup

from tillhouse.desk import charts
from tillhouse.desk.frame.places import Frame
from tillhouse.desk.frame.sentences import counted, sentence
from tillhouse.desk.frame.words import moment
from tillhouse.kit.clock import parse_timestamp

WEBHOOKS = "/desk/developers/webhooks"
DELIVERIES = f"{WEBHOOKS}/deliveries"
TICKS_MAX = 40
# A delivery that no sender tried within this time waits for more than its turn.
_TRIED_WITHIN = timedelta(minutes=1)
_MARKS = {"delivered": "good", "failed": "bad", "pending": "none"}
Data = Mapping[str, Any]


class EventChoice(msgspec.Struct, frozen=True):
    """An event that a form offers."""

    name: str
    label: str
    is_chosen: bool


class Ticks(msgspec.Struct, frozen=True):
    """The latest deliveries of an endpoint as marks, and how many of them came to what."""

    marks: Markup
    delivered: int
    failed: int


class EndpointRow(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint in the list."""

    address: str
    name: str
    url: str
    events: str
    state: str
    ticks: Ticks
    delivered: str


class DeliveryRow(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery in a list."""

    address: str
    event: str
    endpoint: str
    state: str
    attempts: int
    answer: str
    next: str
    at: str
    when: str


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt of a delivery."""

    is_good: bool
    outcome: str
    at: str
    when: str
    address: str
    phases: str
    response: str


def endpoint(one: Data, deliveries: Sequence[Data], frame: Frame) -> EndpointRow:
    """An endpoint as the list shows it."""
    return EndpointRow(
        address=f"{WEBHOOKS}/{one['id']}",
        name=one["name"],
        url=one["url"],
        events=sentence("webhooks.every")
        if one["events"] == ["*"]
        else counted("webhooks.event_count", len(one["events"])),
        state=state(one),
        ticks=ticks([each for each in deliveries if each["webhookEndpointId"] == one["id"]]),
        delivered=frame.when(one["lastDeliveredAt"]) or sentence("api_keys.never"),
    )


def state(one: Data) -> str:
    """The state of an endpoint: an active one may be failing."""
    is_failing = one["status"] == "active" and one["failingSince"]
    return "failing" if is_failing else one["status"]


def ticks(deliveries: Sequence[Data]) -> Ticks:
    """The latest deliveries, the newest last."""
    latest = [one["status"] for one in deliveries[:TICKS_MAX]][::-1]
    marks = charts.ticks([_MARKS[status] for status in latest], TICKS_MAX)
    return Ticks(marks, latest.count("delivered"), latest.count("failed"))


def is_waiting(deliveries: Sequence[Data], now: datetime) -> bool:
    """Whether the newest delivery is about to be tried, so that its block is asked for again."""
    if not deliveries or deliveries[0]["status"] != "pending" or deliveries[0]["attempts"]:
        return False
    return now - parse_timestamp(deliveries[0]["createdAt"]) < _TRIED_WITHIN


def trouble(one: Data, frame: Frame) -> str | None:
    """How an endpoint fails, and what comes of it."""
    if one["status"] == "disabled":
        at = frame.when_exactly(one["disabledAt"])
        return sentence("webhooks.is_disabled", when=at)
    if not one["failingSince"]:
        return None
    since = frame.when_exactly(one["failingSince"])
    failures = counted("webhooks.failures", one["failureCount"], since=since)
    return f"{failures} {counted('webhooks.until_disabled', one['failuresToDisable'] or 0)}"


def facts(one: Data, apps: Mapping[str, str], frame: Frame) -> list[tuple[str, str, None]]:
    """The facts of an endpoint, as label and value."""
    told = (
        ("url", one["url"]),
        ("app", apps.get(one["developerAppId"])),
        ("delivered", frame.when(one["lastDeliveredAt"])),
        ("made", frame.when(one["createdAt"])),
        ("id", one["id"]),
    )
    return [(sentence(f"endpoint_fact.{name}"), value, None) for name, value in told if value]


def groups(catalogue: Sequence[Data], chosen: Sequence[str]) -> list[tuple[str, list[EventChoice]]]:
    """The events of the catalogue, by their groups."""
    found: dict[str, list[EventChoice]] = {}
    for one in catalogue:
        choice = EventChoice(one["type"], one["label"], one["type"] in chosen)
        found.setdefault(one["group"], []).append(choice)
    return list(found.items())


def delivery(one: Data, names: Mapping[str, str], frame: Frame) -> DeliveryRow:
    """A delivery as a list shows it."""
    return DeliveryRow(
        address=f"{DELIVERIES}/{one['id']}",
        event=one["eventType"],
        endpoint=names.get(one["webhookEndpointId"]) or sentence("webhooks.gone"),
        state=delivery_state(one),
        attempts=one["attempts"],
        answer=_answer(one["responseStatus"], one["errorMessage"]),
        next=frame.when_exactly(one["nextAttemptAt"]),
        at=one["createdAt"],
        when=frame.when_exactly(one["createdAt"]),
    )


def delivery_state(one: Data) -> str:
    """The state of a delivery: one that failed may be tried again."""
    is_tried_again = one["status"] == "failed" and one["nextAttemptAt"]
    return "retrying" if is_tried_again else one["status"]


def delivery_facts(
    one: Data, names: Mapping[str, str], frame: Frame
) -> Iterator[tuple[str, str, str | None]]:
    """The facts of a delivery, as label, value and the page that it leads to."""
    name, endpoint_id = names.get(one["webhookEndpointId"]), one["webhookEndpointId"]
    for label, value, address in (
        ("endpoint", name, f"{WEBHOOKS}/{endpoint_id}"),
        ("url", one["url"], None),
        ("made", frame.when_exactly(one["createdAt"]), None),
        ("attempts", str(one["attempts"]), None),
        ("event_id", one["eventId"], None),
        ("id", one["id"], None),
    ):
        if value:
            yield sentence(f"endpoint_fact.{label}"), value, address


def attempts(one: Data, frame: Frame) -> list[Attempt]:
    """Every attempt of a delivery, the newest first."""
    return [_attempt(each, frame) for each in reversed(one["attemptsLog"])]


def _attempt(one: Data, frame: Frame) -> Attempt:
    status = one["responseStatus"]
    phases = [
        sentence(f"phase.{name}", ms=ms) for name, ms in (one.get("phasesMs") or {}).items() if ms
    ]
    return Attempt(
        is_good=one["error"] is None,
        outcome=sentence("deliveries.outcome", answer=_answer(status, one["error"]),
                         ms=f"{one['latencyMs']:,}"),
        at=one["at"],
        when=f"{moment(one['at'], frame.zone):%d %b %H:%M:%S}",
        address=one["address"] or "",
        phases=", ".join(phases),
        response=(one["response"] or "").strip(),
    )  # fmt: skip


def _answer(status: int | None, error: str | None) -> str:
    return str(status) if status else error or ""
