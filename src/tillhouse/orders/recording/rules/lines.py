"""The price of each line before discounts: prices, modifiers, bundles."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.kit.errors import FieldError
from tillhouse.kit.money import check_scale, round_money
from tillhouse.kit.partial import InvalidField
from tillhouse.orders.recording.facts import ProductFacts, RecordingFacts, VariantFacts
from tillhouse.orders.types import ComponentShown, ModifierShown, NewItem, NewModifier
from tillhouse.stock.rules import plain

ZERO = Decimal(0)
_NO_NAME = "is required for a line without product_id"


class KnownTax(msgspec.Struct, frozen=True):
    """The tax of a line that another room has worked out: in its price, and on top of it."""

    included: Decimal
    added: Decimal


class PricedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line with its prices; `taxed` of the totals gives it discount, tax and total."""

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
