"""Rules of the terms of a promotion: pure decisions."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

from msgspec import UNSET

from tillhouse.kit.errors import FieldError
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import faults, made
from tillhouse.promotions.facts import PromotionFacts, Terms
from tillhouse.promotions.types import NewPromotion, PromotionPatch
from tillhouse.stores.rules import minutes

PER_CENT_MAX = 100

# Fields whose names differ between a request and the terms.
_ASKED_AS = {"from_minute": "from_time", "to_minute": "to_time"}


def new_terms(new: NewPromotion, zone: str) -> Terms:
    """The terms as asked for; whether they may be is for `terms_faults`."""
    return _terms(lambda name, meaning: meaning(getattr(new, name)), zone)


def changed_terms(old: Terms, patch: PromotionPatch, zone: str) -> Terms:
    """The terms as they would be after a change."""

    def read(name: str, meaning: Callable[[Any], Any]) -> Any:
        asked = getattr(patch, name)
        if asked is not UNSET:
            return meaning(asked)
        return getattr(old, next((k for k, v in _ASKED_AS.items() if v == name), name))

    return _terms(read, zone)


def _terms(read: Callable[[str, Callable[[Any], Any]], Any], zone: str) -> Terms:
    meanings: dict[str, Callable[[Any], Any]] = {
        "name": str,
        "type": str,
        "scope": str,
        "value": Decimal,
        "product_ids": _unique,
        "category_ids": _unique,
        "minimum_subtotal": _amount,
        "maximum_discount": _amount,
        "starts_at": lambda asked: asked.starts_at(zone) if asked else None,
        "ends_at": lambda asked: asked.ends_at(zone) if asked else None,
        "days": lambda asked: sorted(set(asked)) if asked else None,
        "from_minute": lambda asked: minutes(asked) if asked else None,
        "to_minute": lambda asked: minutes(asked) if asked else None,
        "limit_total": lambda asked: asked,
        "limit_per_customer": lambda asked: asked,
        "is_active": bool,
    }
    parts: dict[str, Callable[[], Any]] = {
        name: lambda name=name, meaning=meaning: read(_ASKED_AS.get(name, name), meaning)
        for name, meaning in meanings.items()
    }
    return made(Terms, parts)


def _unique(ids: list[UUID]) -> list[UUID]:
    return list(dict.fromkeys(ids))


def _amount(asked: Decimal | None) -> Decimal | None:
    return None if asked is None else Decimal(asked)


def terms_faults(
    asked: NewPromotion | PromotionPatch, terms: Terms, business: PromotionFacts, used: int = 0
) -> list[FieldError]:
    """Every reason against the terms that would come of it."""
    return faults(
        lambda: _value_errors(terms, business.currency),
        lambda: _bound_errors(terms, "minimum_subtotal", business.currency),
        lambda: _bound_errors(terms, "maximum_discount", business.currency),
        lambda: _target_errors(terms, "products", "product_ids"),
        lambda: _target_errors(terms, "categories", "category_ids"),
        lambda: _unknown_errors(asked, "product_ids", business.product_ids, "product"),
        lambda: _unknown_errors(asked, "category_ids", business.category_ids, "category"),
        lambda: _period_errors(terms),
        lambda: _hours_errors(terms),
        lambda: _limit_errors(terms, used),
    )


def _value_errors(terms: Terms, currency: str) -> Iterator[FieldError]:
    if terms.type == "percent":
        if not 0 < terms.value <= PER_CENT_MAX:
            yield FieldError("value", "must be more than 0 and at most 100, in per cent")
    elif terms.type == "fixed" and not terms.value:
        yield FieldError("value", "must be more than 0, an amount")
    elif wrong := check_scale(terms.value, currency):
        yield FieldError("value", wrong)


def _bound_errors(terms: Terms, name: str, currency: str) -> Iterator[FieldError]:
    amount: Decimal | None = getattr(terms, name)
    if amount is None:
        return
    if not amount:
        yield FieldError(name, "must be more than 0; leave it out for none")
    elif wrong := check_scale(amount, currency):
        yield FieldError(name, wrong)


def _target_errors(terms: Terms, scope: str, name: str) -> Iterator[FieldError]:
    has_targets = bool(getattr(terms, name))
    if terms.scope == scope and not has_targets:
        yield FieldError(name, f"needs at least one with the scope {scope}")
    if terms.scope != scope and has_targets:
        yield FieldError(name, f"must be empty unless the scope is {scope}")


def _unknown_errors(
    asked: NewPromotion | PromotionPatch, name: str, known: set[UUID], noun: str
) -> Iterator[FieldError]:
    ids: list[UUID] = getattr(asked, name) or []
    for index, id_ in enumerate(ids):
        if id_ not in known:
            yield FieldError(f"{name}[{index}]", f"is no {noun} of this book")


def _period_errors(terms: Terms) -> Iterator[FieldError]:
    starts, ends = terms.starts_at, terms.ends_at
    if starts is not None and ends is not None and ends <= starts:
        yield FieldError("ends_at", "must be after starts_at")


def _hours_errors(terms: Terms) -> Iterator[FieldError]:
    if (terms.from_minute is None) != (terms.to_minute is None):
        missing, given = (
            ("from_time", "to_time")
            if terms.from_minute is None
            else (
                "to_time",
                "from_time",
            )
        )
        yield FieldError(missing, f"is required with {given}")
    elif terms.from_minute is not None and terms.from_minute == terms.to_minute:
        yield FieldError("to_time", "must differ from from_time; leave both out for the whole day")


def _limit_errors(terms: Terms, used: int) -> Iterator[FieldError]:
    if terms.limit_total is not None and terms.limit_total < used:
        yield FieldError("limit_total", f"must not be less than the {used} uses so far")
