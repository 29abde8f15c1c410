"""The figures of a new order: the price of each line, and the totals.

A line's price before discounts comes of prices, modifiers and bundles. Then discounts are spread
over lines, with service charge and tax, so that lines always sum up:

total = subtotal - discount + service charge + exclusive tax + adjustment, and never negative.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.kit.errors import FieldError
from tillhouse.kit.money import check_scale, largest_remainder, plain, round_money
from tillhouse.kit.partial import InvalidField
from tillhouse.orders.recording.facts import ProductFacts, RecordingFacts, Trade, VariantFacts
from tillhouse.orders.types import ComponentShown, ModifierShown, NewItem, NewModifier, NewOrder

ZERO = Decimal(0)
HUNDRED = Decimal(100)
_NO_NAME = "is required for a line without product_id"


def occurrence(new: NewOrder, now: datetime) -> datetime:
    """When the sale happened; a moment that the till's clock is ahead by counts as now."""
    return min(new.occurred_at.at, now) if new.occurred_at else now


def is_past(new: NewOrder, now: datetime) -> bool:
    """Whether the sale is recorded after the fact."""
    return occurrence(new, now) < now


class KnownTax(msgspec.Struct, frozen=True):
    """The tax of a line that another room has worked out: in its price, and on top of it."""

    included: Decimal
    added: Decimal


class PricedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line with its prices; `taxed` gives it discount, tax and total."""

    line_type: str
    product: ProductFacts | None
    variant: VariantFacts | None
    product_name: str
    quantity: Decimal
    unit_price: Decimal
    original_unit_price: Decimal
    subtotal: Decimal
    modifiers: list[ModifierShown]
    components: list[ComponentShown]
    discount: Decimal = ZERO
    tax: Decimal = ZERO
    total: Decimal = ZERO
    # Instead of the rate of its product.
    known_tax: KnownTax | None = None
    # Of a line without a product, in per cent.
    named_rate: Decimal = ZERO

    @property
    def net(self) -> Decimal:
        """The amount after discounts."""
        return self.subtotal - self.discount

    @property
    def tax_rate(self) -> Decimal:
        """Per cent; a line that is no product of the catalog names its own, or isn't taxed."""
        return self.product.tax_rate if self.product else self.named_rate


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """The amounts of an order."""

    subtotal: Decimal
    discount: Decimal
    service_charge: Decimal
    tax: Decimal
    exclusive_tax: Decimal
    total: Decimal


def line_errors(item: NewItem, index: int, facts: RecordingFacts) -> Iterator[FieldError]:
    """The faults of the kind of a line: what goes with it, and what doesn't."""
    path = f"items[{index}]."
    if item.product_id is None:
        yield from _name_errors(item, path)
        if item.variant_id is not None:
            yield FieldError(path + "variant_id", "needs a product_id")
        if item.custom_price is None:
            yield FieldError(path + "custom_price", "is required for a line without product_id")
    elif item.line_type == "fee":
        yield FieldError(path + "product_id", "is left out of a fee line")
    if item.tax_rate is not None and item.line_type == "fee":
        yield FieldError(path + "tax_rate", "is left out of a fee line, which isn't taxed")
    elif item.tax_rate is not None and item.product_id is not None:
        yield FieldError(path + "tax_rate", "is left out of a line of the catalog, which has one")


def _name_errors(item: NewItem, path: str) -> Iterator[FieldError]:
    """A line that the catalog doesn't know needs a name, and so do its modifiers."""
    if item.product_name is None:
        yield FieldError(path + "product_name", _NO_NAME)
    for number, modifier in enumerate(item.modifiers or ()):
        if modifier.name is None:
            yield FieldError(f"{path}modifiers[{number}].name", _NO_NAME)


def product_errors(item: NewItem, index: int, facts: RecordingFacts) -> Iterator[FieldError]:
    """A product or a variant that the book doesn't have."""
    if item.product_id is None:
        return
    path, product = f"items[{index}].", facts.products.get(item.product_id)
    if product is None:
        yield FieldError(path + "product_id", "is no product of this book")
        return
    yield from _variant_errors(item, path, product)


def _variant_errors(item: NewItem, path: str, product: ProductFacts) -> Iterator[FieldError]:
    if item.variant_id is None:
        if variant_of(item, product) is None:
            yield FieldError(path + "variant_id", "is required: the product has several variants")
    elif variant_of(item, product) is None:
        yield FieldError(path + "variant_id", "is no variant of this product")


def price_errors(item: NewItem, index: int, facts: RecordingFacts) -> Iterator[FieldError]:
    """Amounts finer than the currency, or a line that would cost less than nothing."""
    path, currency = f"items[{index}].", facts.trade.currency
    if item.custom_price is not None and (wrong := check_scale(item.custom_price, currency)):
        yield FieldError(path + "custom_price", wrong)
    for number, modifier in enumerate(item.modifiers or ()):
        delta = modifier.price_delta
        if delta is not None and (wrong := check_scale(delta, currency)):
            yield FieldError(f"{path}modifiers[{number}].price_delta", wrong)


def modifier_errors(item: NewItem, index: int, facts: RecordingFacts) -> Iterator[FieldError]:
    """Options outside their group, groups that the product hasn't, too few or too many."""
    product = facts.products.get(item.product_id) if item.product_id else None
    if product is None:
        return
    path = f"items[{index}].modifiers"
    groups = {group.id: group for group in product.groups}
    chosen: Counter[UUID] = Counter()
    for number, modifier in enumerate(item.modifiers or ()):
        option = facts.options.get(modifier.modifier_option_id)
        if modifier.modifier_group_id not in groups:
            yield FieldError(f"{path}[{number}].modifier_group_id", "is no group of this product")
        elif option is None or option.modifier_group_id != modifier.modifier_group_id:
            yield FieldError(f"{path}[{number}].modifier_option_id", "is no option of this group")
        else:
            chosen[modifier.modifier_group_id] += 1
    for group in product.groups:
        count = chosen[group.id]
        if count < group.min_choices:
            yield FieldError(path, f"needs at least {group.min_choices} of {group.name}")
        elif group.max_choices is not None and count > group.max_choices:
            yield FieldError(path, f"takes at most {group.max_choices} of {group.name}")


def variant_of(item: NewItem, product: ProductFacts) -> VariantFacts | None:
    """The variant that is meant; without a name, the only one there is."""
    if item.variant_id is not None:
        found = [v for v in product.variants if v.id == item.variant_id]
    else:
        found = [v for v in product.variants if v.is_active or v.is_implicit]
    return found[0] if len(found) == 1 else None


def line(item: NewItem, facts: RecordingFacts) -> PricedLine:
    """A line with its prices, once nothing is wrong with it."""
    product = facts.products.get(item.product_id) if item.product_id else None
    if item.product_id and product is None:
        # Of a line whose product isn't there, no price can be told.
        raise InvalidField
    variant = variant_of(item, product) if product else None
    modifiers = [_modifier(item, asked, facts) for asked in item.modifiers or ()]
    extra = sum((modifier.price_delta for modifier in modifiers), ZERO)
    base = _catalog_price(product, variant) if product and variant else item.custom_price or ZERO
    own = base if item.custom_price is None else Decimal(item.custom_price)
    unit = max(own + extra, ZERO)
    return PricedLine(
        line_type=item.line_type or "product",
        named_rate=Decimal(item.tax_rate or 0),
        product=product,
        variant=variant,
        product_name=product.name if product else str(item.product_name),
        quantity=Decimal(item.quantity),
        unit_price=unit,
        original_unit_price=max(base + extra, ZERO),
        subtotal=round_money(unit * item.quantity, facts.trade.currency),
        modifiers=modifiers,
        components=[_component(c.variant, c.quantity) for c in product.components]
        if product
        else [],
    )


def _catalog_price(product: ProductFacts, variant: VariantFacts) -> Decimal:
    if variant.store_price is not None:
        return variant.store_price
    return product.base_price if variant.price is None else variant.price


def _modifier(item: NewItem, asked: NewModifier, facts: RecordingFacts) -> ModifierShown:
    option = facts.options.get(asked.modifier_option_id) if item.product_id else None
    return ModifierShown(
        modifier_group_id=asked.modifier_group_id,
        modifier_option_id=asked.modifier_option_id,
        name=option.name if option else str(asked.name),
        price_delta=option.price_delta if option else Decimal(asked.price_delta or 0),
    )


def _component(variant: VariantFacts, quantity: Decimal) -> ComponentShown:
    return ComponentShown(
        product_id=variant.product_id,
        variant_id=variant.id,
        name=variant.product_name if variant.is_implicit else variant.name,
        quantity=quantity,
    )


def summary(lines: list[PricedLine]) -> str:
    """The order in a few words: its first two lines and how many more there are."""
    shown = [f"{plain(one.quantity)} × {one.product_name}" for one in lines[:2]]
    more = len(lines) - len(shown)
    return ", ".join(shown) + (f" (+{more} more)" if more else "")


def discountable(lines: Sequence[PricedLine]) -> Decimal:
    """How much an order-level discount can take off at most."""
    return sum((lines[index].net for index in _bearers(lines)), ZERO)


def taxed(lines: Sequence[PricedLine], discount: Decimal, trade: Trade) -> list[PricedLine]:
    """The lines with their shares of the discount, and taxed.

    Line discounts of a promotion are in the lines already.
    """
    return [_taxed(one, trade) for one in _spread(lines, discount, trade.currency)]


def _taxed(one: PricedLine, trade: Trade) -> PricedLine:
    if known := one.known_tax:
        return msgspec.structs.replace(
            one, tax=known.included + known.added, total=one.net + known.added
        )
    tax = _tax(one, trade)
    total = one.net + (ZERO if trade.tax_inclusive else tax)
    return msgspec.structs.replace(one, tax=tax, total=total)


def add_up(lines: Sequence[PricedLine], service_charge: Decimal) -> Totals:
    """Sum up lines that are taxed."""
    subtotal = sum((one.subtotal for one in lines), ZERO)
    taken_off = sum((one.discount for one in lines), ZERO)
    tax = sum((one.tax for one in lines), ZERO)
    exclusive = sum((one.total - one.net for one in lines), ZERO)
    return Totals(
        subtotal=subtotal,
        discount=taken_off,
        service_charge=service_charge,
        tax=tax,
        exclusive_tax=exclusive,
        total=subtotal - taken_off + service_charge + exclusive,
    )


def discounted(lines: Sequence[PricedLine], shares: Mapping[int, Decimal]) -> list[PricedLine]:
    """The lines, each with its share of a discount; shares are given by the lines' indexes."""
    return [
        msgspec.structs.replace(one, discount=one.discount + shares[index])
        if index in shares
        else one
        for index, one in enumerate(lines)
    ]


def product_lines(lines: Sequence[PricedLine]) -> list[int]:
    """The indexes of the lines that sell a product."""
    return [index for index, one in enumerate(lines) if one.line_type == "product"]


def _bearers(lines: Sequence[PricedLine]) -> list[int]:
    """The lines that bear an order's discount: the products, or the fees if there is nothing else.

    Of an order of nothing but fees they are all that could bear it.
    """
    return product_lines(lines) or list(range(len(lines)))


def _spread(lines: Sequence[PricedLine], discount: Decimal, currency: str) -> Sequence[PricedLine]:
    bearers = _bearers(lines)
    if not discount or not bearers:
        return lines
    shares = largest_remainder(discount, [lines[index].net for index in bearers], currency)
    return discounted(lines, dict(zip(bearers, shares, strict=True)))


def _tax(one: PricedLine, trade: Trade) -> Decimal:
    rate = one.tax_rate
    if not rate:
        return ZERO
    base = HUNDRED + rate if trade.tax_inclusive else HUNDRED
    return round_money(one.net * rate / base, trade.currency)


def service_charge(
    new: NewOrder, lines: Sequence[PricedLine], trade: Trade, now: datetime
) -> Decimal:
    """The charge on lines with their discounts; the setting holds for no sale of the past."""
    if new.service_charge_amount is not None:
        return Decimal(new.service_charge_amount)
    percent = trade.service_charge_percent
    if percent is None or is_past(new, now) or new.service_mode not in trade.service_charge_modes:
        return ZERO
    # A fee, such as one for a delivery, is a charge itself: none is taken of it.
    charged = sum((one.net for one in lines if one.line_type == "product"), ZERO)
    return round_money(charged * percent / HUNDRED, trade.currency)
