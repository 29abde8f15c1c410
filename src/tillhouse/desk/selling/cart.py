"""The cart of a sale as text in an address: pure, so that Back, a reload and a link all work.

`~` stands between lines and `_` between the parts of one: a product, its variant, how many, then
each choice as group and option; or `x`, how many, a price and the name of something that is in no
catalogue, all ids and the name in hexadecimal.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

LINES_MAX = 60
_TEXT_LENGTH_MAX = 12_000
_QUANTITY = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,3})?")
_PRICE = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,6})?")


class CartLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a cart: goods of the catalogue, or something with a name and a price of its own."""

    quantity: Decimal
    product: UUID | None = None
    variant: UUID | None = None
    # Group and option of each choice.
    choices: tuple[tuple[UUID, UUID], ...] = ()
    name: str = ""
    price: str = ""

    @property
    def text(self) -> str:
        """The line as text."""
        count = f"{self.quantity.normalize():f}"
        if self.product is None:
            return "_".join(("x", count, self.price, self.name.encode().hex()))
        parts = [self.product.hex, self.variant.hex if self.variant else "", count]
        return "_".join([*parts, *(f"{group.hex}-{option.hex}" for group, option in self.choices)])

    @property
    def body(self) -> dict[str, Any]:
        """The item of the body of an order."""
        item: dict[str, Any] = {"quantity": self.quantity}
        if self.product is None:
            return item | {"product_name": self.name, "custom_price": self.price}
        item["product_id"] = str(self.product)
        if self.variant:
            item["variant_id"] = str(self.variant)
        if self.choices:
            item["modifiers"] = [
                {"modifier_group_id": str(group), "modifier_option_id": str(option)}
                for group, option in self.choices
            ]
        return item


def read(text: str) -> list[CartLine]:
    """The lines of a cart; what is no line is left out."""
    parts = text[:_TEXT_LENGTH_MAX].split("~")[:LINES_MAX]
    return [line for line in map(read_line, parts) if line]


def read_line(text: str) -> CartLine | None:
    """One line; None when the text is none."""
    parts = text.split("_")
    try:
        if parts[0] == "x":
            _, count, price, name = parts
            words = bytes.fromhex(name).decode()
            if not _PRICE.fullmatch(price) or not words.strip():
                return None
            return _counted(count, CartLine(quantity=Decimal(), name=words, price=price))
        product, variant, count, *choices = parts
        line = CartLine(
            quantity=Decimal(),
            product=UUID(hex=product),
            variant=UUID(hex=variant) if variant else None,
            choices=tuple(_choice(one) for one in choices),
        )
    except ValueError:
        return None
    return _counted(count, line)


def _choice(text: str) -> tuple[UUID, UUID]:
    group, option = text.split("-")
    return UUID(hex=group), UUID(hex=option)


def _counted(count: str, line: CartLine) -> CartLine | None:
    if not _QUANTITY.fullmatch(count) or not Decimal(count):
        return None
    return msgspec.structs.replace(line, quantity=Decimal(count))


def write(lines: Sequence[CartLine]) -> str:
    """The cart as text."""
    return "~".join(line.text for line in lines)


def changed(lines: Sequence[CartLine], query: Mapping[str, str]) -> list[CartLine]:
    """The cart after the button of an address: `add` a line, one `more` or `less` of the nth."""
    found = list(lines)
    if added := read_line(query.get("add", "")):
        alike = [index for index, line in enumerate(found) if _is_same(line, added)]
        if alike:
            found[alike[0]] = _plus(found[alike[0]], added.quantity)
        elif len(found) < LINES_MAX:
            found.append(added)
    for name, by in (("more", 1), ("less", -1)):
        number = query.get(name, "")
        if number.isdecimal() and int(number[:4]) < len(found):
            found[int(number)] = _plus(found[int(number)], Decimal(by))
    return [line for line in found if line.quantity > 0]


def _is_same(left: CartLine, right: CartLine) -> bool:
    return msgspec.structs.replace(left, quantity=right.quantity) == right


def _plus(line: CartLine, by: Decimal) -> CartLine:
    return msgspec.structs.replace(line, quantity=line.quantity + by)
