"""The cart of a sale as text in an address: pure, so that Back, a reload and a link all work.

`~` stands between lines and `_` between the parts of one: a product, its variant, how many, then
each choice as group and option; or `x`, how many, a price and the name of something that is in no
catalogue, all ids and the name in hexadecimal.
"""

import re
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

LINES_MAX = 60
NAME_LENGTH_MAX = 80
_TEXT_LENGTH_MAX = 30_000
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


class Cart(msgspec.Struct, frozen=True):
    """The lines of a cart, and whether all of its text could be read."""

    lines: tuple[CartLine, ...] = ()
    is_whole: bool = True

    @property
    def text(self) -> str:
        """The cart as text."""
        return "~".join(line.text for line in self.lines)

    def with_line(self, added: CartLine) -> "Cart | None":
        """The cart with more of the same line, or with one more; None when it is full."""
        alike = [index for index, line in enumerate(self.lines) if _is_same(line, added)]
        if alike:
            return self.with_more(alike[0], added.quantity)
        found = Cart((*self.lines, added), self.is_whole)
        return found if len(found.lines) <= LINES_MAX and _is_short(found) else None

    def with_more(self, index: int, by: Decimal) -> "Cart":
        """The cart with so many more, or fewer, of the nth line; as it was where there is none."""
        if not 0 <= index < len(self.lines):
            return self
        line = self.lines[index]
        changed = read_line(msgspec.structs.replace(line, quantity=line.quantity + by).text)
        if changed is None and by > 0:
            return self
        rest = (*self.lines[:index], *([changed] if changed else ()), *self.lines[index + 1 :])
        return Cart(rest, self.is_whole)


def read(text: str) -> Cart:
    """The lines of a cart; one that can't be read is left out, and the cart says so."""
    if not text:
        return Cart()
    parts = text[:_TEXT_LENGTH_MAX].split("~")
    lines = tuple(line for line in map(read_line, parts[:LINES_MAX]) if line)
    return Cart(lines, is_whole=len(text) <= _TEXT_LENGTH_MAX and len(lines) == len(parts))


def read_line(text: str) -> CartLine | None:
    """One line; None when the text is none."""
    parts = text.split("_")
    try:
        if parts[0] == "x":
            _, count, price, name = parts
            words = bytes.fromhex(name).decode()
            if not _PRICE.fullmatch(price) or not words.strip() or len(words) > NAME_LENGTH_MAX:
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


def _is_same(left: CartLine, right: CartLine) -> bool:
    return msgspec.structs.replace(left, quantity=right.quantity) == right


def _is_short(cart: Cart) -> bool:
    return len(cart.text) <= _TEXT_LENGTH_MAX
