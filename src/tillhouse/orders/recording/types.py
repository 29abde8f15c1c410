"""The types of a preview: an order as it would be recorded."""

from decimal import Decimal
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tillhouse.kit.ids import ProductId, VariantId
from tillhouse.orders.money_types import PaymentMethod
from tillhouse.orders.types import ComponentShown, ModifierShown, PaymentStatus, Status


class PreviewedItem(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A line as the order would have it."""

    line_type: Literal["product", "fee"]
    product_id: ProductId | None
    """The product of the catalog; null for a line without one."""
    variant_id: VariantId | None
    """The variant of the product; null for a line without a catalog product."""
    product_name: Annotated[str, Meta(examples=["Jollof rice"])]
    variant_name: str | None
    quantity: Decimal
    unit_price: Decimal
    original_unit_price: Decimal
    discount_amount: Decimal
    """The line's share of promotion and discount."""
    subtotal_amount: Decimal
    tax_amount: Decimal
    """The tax of the line, by its product's rate on what is left after discounts."""
    total_price: Decimal
    modifiers: list[ModifierShown]
    components: list[ComponentShown]


class OrderPreview(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An order as it would be recorded now: its amounts, by the names that an order has."""

    status: Status
    payment_status: PaymentStatus
    summary: Annotated[str, Meta(examples=["2 × Jollof rice, 1 × Chicken"])]
    items: list[PreviewedItem]
    """The lines, in the order of the request."""
    total_amount: Decimal
    subtotal_amount: Decimal
    """The cost of all lines before discounts and tax."""
    discount_amount: Decimal
    """The amount that promotion and discount take off in all."""
    service_charge_amount: Decimal
    """The service charge, added after discounts and not taxed."""
    tax_amount: Decimal
    """The tax of all lines."""
    amount_paid: Decimal
    remaining_amount: Decimal
    change_amount: Decimal
    """The part of the amount paid that would be handed out again in cash."""
    currency: str
    payment_method: PaymentMethod
