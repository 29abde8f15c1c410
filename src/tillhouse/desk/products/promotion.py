"""One promotion in words, in the fields of its form, and in the body of an operation."""

from collections.abc import Iterator, Mapping
from datetime import time
from typing import Any

from tillhouse.desk.fields import number
from tillhouse.desk.frame.places import Frame
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import moment, money, quantity
from tillhouse.desk.session.forms import Form

Data = Mapping[str, Any]
DAYS = range(1, 8)
_NUMBERS = ("value", "minimum_subtotal", "maximum_discount", "limit_total", "limit_per_customer")
_OPTIONAL = ("minimum_subtotal", "maximum_discount", "starts_at", "ends_at", "from_time", "to_time")
_LIMITS = ("limit_total", "limit_per_customer")
_KEYS = {
    "minimum_subtotal": "minimumSubtotal",
    "maximum_discount": "maximumDiscount",
    "limit_total": "limitTotal",
    "limit_per_customer": "limitPerCustomer",
}
_LAST = time(23, 59, 59)


def row(promotion: Data, frame: Frame) -> dict[str, Any]:
    """A promotion of a list."""
    limit = promotion["limitTotal"]
    used = {"used": promotion["used"], "limit": limit}
    return {
        "id": promotion["id"],
        "name": promotion["name"],
        "effect": _effect(promotion, frame.currency),
        "when": ", ".join(_times(promotion, frame)) or sentence("promotions.always"),
        "used": sentence("promotions.used_of", **used) if limit else str(promotion["used"]),
        "is_active": promotion["isActive"],
    }


def _effect(promotion: Data, currency: str) -> str:
    value = promotion["value"]
    match promotion["type"]:
        case "percent":
            return sentence("promotions.percent", value=quantity(value))
        case "fixed":
            return money(value, currency)
        case _:
            return sentence("promotion.type.free_item")


def _times(promotion: Data, frame: Frame) -> Iterator[str]:
    if days := promotion["days"]:
        yield ", ".join(sentence(f"promotion.day.{day}")[:3] for day in days)
    if promotion["fromTime"]:
        yield f"{promotion['fromTime']}\N{EN DASH}{promotion['toTime']}"
    if promotion["startsAt"]:
        yield sentence("promotions.from", day=frame.when(promotion["startsAt"]))
    if promotion["endsAt"]:
        yield sentence("promotions.until", day=frame.when(promotion["endsAt"]))


def values(promotion: Data, zone: str) -> dict[str, str]:
    """The fields of the form, as the promotion stands."""
    found = {name: promotion[name] for name in ("name", "type", "scope")}
    for name in _NUMBERS:
        given = promotion[_KEYS.get(name, name)]
        found[name] = "" if given is None else quantity(given)
    return found | {
        "starts_at": _day(promotion["startsAt"], zone, time()),
        "ends_at": _day(promotion["endsAt"], zone, _LAST),
        "from_time": promotion["fromTime"] or "",
        "to_time": promotion["toTime"] or "",
        "is_active": "true" if promotion["isActive"] else "",
    }


def _day(text: str | None, zone: str, edge: time) -> str:
    """A moment as it was given: a day where it stands at the edge of one, else exactly."""
    if text is None:
        return ""
    local = moment(text, zone)
    is_edge = local.time().replace(microsecond=0) == edge
    return local.date().isoformat() if is_edge else local.isoformat()


def body(form: Form) -> dict[str, Any]:
    """The body that a form says, of a new promotion and of a change."""
    days = [number(day) for day in form.all("days")]
    return {
        **{name: form.get(name, "") for name in ("name", "type", "scope")},
        **{name: form.get(name) or None for name in _OPTIONAL},
        **{name: number(form[name]) if form.get(name) else None for name in _LIMITS},
        "value": form.get("value") or "0",
        "product_ids": form.all("product_ids"),
        "category_ids": form.all("category_ids"),
        "days": days or None,
        "is_active": "is_active" in form,
    }
