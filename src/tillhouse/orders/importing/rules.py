"""An order as a file gives it: the fields of a new order, and those that only files have.

Files name an order by `row_key`, a product by `product_sku` if they like, and a customer by
`customer_phone`.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

from tillhouse.http.fields import fields_of, parse
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Invalid
from tillhouse.kit.json import encode
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.values import Moment
from tillhouse.orders.types import NewOrder
from tillhouse.orders.values import ShortText
from tillhouse.products.values import Sku

T = TypeVar("T")

NO_SKU = "is no sku of this book"
_SEVERAL = "is of a product with several variants: give the sku of one of them"
_LINE = re.compile(r"items\[(?P<place>[0-9]+)\]\.(?P<name>.+)")


class ParsedOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One order of a file, judged by its form."""

    # The fields of a new order, as plain values.
    value: dict[str, Any]
    row_key: str | None
    phone: str | None
    # By the places of the lines.
    skus: list[str | None]
    faults: list[FieldError]
    # The order that the file gives, however it is written; None when its form is wrong.
    fingerprint: bytes | None = None


def ask(given: dict[str, Any]) -> ParsedOrder:
    """Take an order apart, and name every field of a wrong form."""
    row_key, faults = _read(given, "row_key", ShortText.from_wire)
    if row_key is None and not faults:
        faults.append(FieldError("row_key", "is required"))
    phone, wrong = _read(given, "customer_phone", PhoneText.from_wire)
    faults += wrong
    if phone is not None and given.get("customer_id") is not None:
        faults.append(FieldError("customer_phone", "is left out of an order with customer_id"))
    value = _without(given, "row_key", "customer_phone")
    skus: list[str | None] = []
    if isinstance(items := given.get("items"), list):
        lines = [_line(item, index) for index, item in enumerate(items)]
        value["items"] = [line for line, _, _ in lines]
        skus = [sku for _, sku, _ in lines]
        faults += [fault for _, _, wrong in lines for fault in wrong]
    fingerprint = None
    try:
        new: NewOrder = parse(value, NewOrder)
        fingerprint = None if faults else _fingerprint(new, phone, skus)
    except Invalid as problem:
        faults += problem.details or []
    return ParsedOrder(
        value=value, row_key=row_key, phone=phone, skus=skus, faults=faults,
        fingerprint=fingerprint,
    )  # fmt: skip


def in_skus(
    faults: Sequence[FieldError], asked: ParsedOrder, missing: set[int]
) -> list[FieldError]:
    """The faults that the rules find, in terms of skus instead of ids.

    No variant has the sku of a line in `missing`, so the rules saw a line without a product.
    """
    found: list[FieldError] = []
    for error in faults:
        line = _LINE.fullmatch(error.field)
        line_index = int(line["place"]) if line else -1
        if line is None or line_index >= len(asked.skus) or asked.skus[line_index] is None:
            found.append(error)
        elif line_index in missing:
            # That it needs a price is said of lines without a product.
            if asked.value["items"][line_index].get("custom_price") is not None:
                found.append(error)
        elif line["name"] in ("product_id", "variant_id"):
            reason = _SEVERAL if line["name"] == "variant_id" else error.message
            found.append(FieldError(f"items[{line_index}].product_sku", reason))
        else:
            found.append(error)
    return found


def _read(
    value: dict[str, Any], name: str, read: Callable[[object], T]
) -> tuple[T | None, list[FieldError]]:
    """A field that a new order doesn't have, and its fault."""
    raw = value.get(name)
    if raw is None:
        return None, []
    try:
        return read(raw), []
    except ValueError as error:
        return None, [FieldError(name, str(error))]


def _without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: part for name, part in value.items() if name not in names}


def _line(item: Any, index: int) -> tuple[Any, str | None, list[FieldError]]:
    """A line without its sku, the sku, and the faults of both."""
    if not isinstance(item, dict):
        return item, None, []
    sku, wrong = _read(item, "product_sku", Sku.from_wire)
    line = _without(item, "product_sku")
    found = [FieldError(f"items[{index}].product_sku", one.message) for one in wrong]
    if sku is not None or wrong:
        # Until the sku is found, it stands for a missing name. A line with a wrong sku doesn't
        # lack a name either.
        line["product_name"] = line.get("product_name") or sku or "?"
        found += [
            FieldError(f"items[{index}].{name}", "is left out of a line with product_sku")
            for name in ("product_id", "variant_id")
            if line.get(name) is not None
        ]
    return line, sku, found


def _fingerprint(new: NewOrder, phone: str | None, skus: list[str | None]) -> bytes:
    """A fingerprint of the order: spelling and the order of fields don't change it."""
    content = [_plain(new), phone, skus]
    return hashlib.sha256(encode(content)).digest()


def _plain(value: Any) -> Any:
    """A value without its absent members, so that a later field of orders changes nothing."""
    if isinstance(value, msgspec.Struct):
        fields = sorted(fields_of(type(value)).values(), key=lambda field: field.name)
        named = {field.name: (getattr(value, field.name), field.default) for field in fields}
        return {
            name: _plain(one)
            for name, (one, default) in named.items()
            if one is not None and one != [] and one != default
        }
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, Moment):
        return iso(value.at)
    return Decimal(value) if isinstance(value, Decimal) else value
