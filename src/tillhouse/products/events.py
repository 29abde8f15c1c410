"""The events of products."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import CategoryId


class ProductData(msgspec.Struct, rename="camel"):
    """A product."""

    id: UUID
    name: Annotated[str, Meta(examples=["Jollof rice"])]
    type: Annotated[str, Meta(examples=["simple"])]
    base_price: Decimal
    category_id: CategoryId | None
    unit: str | None
    is_active: bool
    is_extra_only: bool
    updated_at: Timestamp


PRODUCT_CREATED = EventType("product.created", "A product was created", "Products", ProductData)
PRODUCT_UPDATED = EventType("product.updated", "A product was changed", "Products", ProductData)
PRODUCT_DELETED = EventType("product.deleted", "A product was deleted", "Products", ProductData)

EVENTS = (
    PRODUCT_CREATED,
    PRODUCT_UPDATED,
    PRODUCT_DELETED,
)
