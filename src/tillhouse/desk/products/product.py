"""One product in words: its variants, its stock and its moves."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tillhouse.desk.frame.places import Frame
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import MINUS, Number, exact, money, named, quantity

Data = Mapping[str, Any]
_TEXTS = ("name", "sku", "unit", "description")


class VariantRow(msgspec.Struct, frozen=True, kw_only=True):
    """A variant of a list."""

    id: str
    name: str
    sku: str
    price: str
    # Its prices in stores.
    more: str
    is_active: bool


class LevelRow(msgspec.Struct, frozen=True, kw_only=True):
    """How much there is of a variant in one store."""

    product_id: str
    name: str
    variant: str
    sku: str
    store: str
    on_hand: str
    reserved: str
    available: str
    state: str


class MoveRow(msgspec.Struct, frozen=True, kw_only=True):
    """A move of stock."""

    kind: str
    name: str
    product_id: str
    reason: str
    order_id: str | None
    store: str
    by: str
    at: str
    when: str
    change: str
    reserved: str
    is_more: bool


class ProductShown(msgspec.Struct, frozen=True, kw_only=True):
    """A product as its page tells it."""

    id: str
    name: str
    sku: str
    type: str
    is_active: bool
    about: str
    # Whether its only variant is the product itself.
    is_one: bool
    variants: list[VariantRow]
    # Variants of which stock is kept: id and name.
    tracked: list[tuple[str, str]]
    parts: list[tuple[str, str, str]]
    groups: list[Data]
    facts: list[tuple[str, str]]


def implicit(product: Data) -> Data | None:
    """The variant that stands for a product without variants."""
    return next((one for one in product["variants"] if one["isImplicit"]), None)


def shown(product: Data, category: str | None, frame: Frame) -> ProductShown:
    """The whole of a product."""
    currency = product["currency"]
    about = [
        category,
        sentence(f"type.{product['type']}").lower(),
        exact(product["basePrice"], currency),
        product["taxRate"] and sentence("product.taxed", rate=quantity(product["taxRate"])),
    ]
    told = ", ".join(filter(None, about))
    return ProductShown(
        id=product["id"],
        name=product["name"],
        sku=product["sku"] or "",
        type=product["type"],
        is_active=product["isActive"],
        about=told[:1].upper() + told[1:],
        is_one=implicit(product) is not None,
        variants=[_variant(one, product, frame) for one in product["variants"]],
        tracked=[
            (one["id"], one["name"] or product["name"])
            for one in product["variants"]
            if one["tracksStock"]
        ],
        parts=[
            (one["productId"], one["name"], quantity(one["quantity"]))
            for one in product["components"]
        ],
        groups=product["modifierGroups"],
        facts=list(_facts(product, frame)),
    )


def price_of(product: Data, variant: Data) -> Number:
    """The price of one unit of a variant, where its store says nothing."""
    return product["basePrice"] if variant["price"] is None else variant["price"]


def _variant(variant: Data, product: Data, frame: Frame) -> VariantRow:
    return VariantRow(
        id=variant["id"],
        name=variant["name"] or product["name"],
        sku=variant["sku"] or "",
        price=exact(price_of(product, variant), product["currency"]),
        more=", ".join(prices(variant, frame)),
        is_active=variant["isActive"],
    )


def prices(variant: Data, frame: Frame) -> Iterator[str]:
    """Its prices in stores."""
    names = {one["id"]: one["name"] for one in frame.stores}
    for one in variant["prices"]:
        store = names.get(one["storeId"], one["storeId"])
        yield sentence("product.price_in", price=money(one["price"], frame.currency), store=store)


def _facts(product: Data, frame: Frame) -> Iterator[tuple[str, str]]:
    own = implicit(product) or {}
    threshold = own.get("lowStockThreshold")
    told: tuple[tuple[str, str | None], ...] = (
        ("unit", product["unit"]),
        ("prices", ", ".join(prices(own, frame)) if own else ""),
        ("policy", _policy(own)),
        ("threshold", None if threshold is None else quantity(threshold)),
        ("extra_only", sentence("product.yes") if product["isExtraOnly"] else ""),
        ("description", product["description"]),
        ("image", product["imageUrl"]),
        ("changed", frame.when(product["updatedAt"])),
        ("id", product["id"]),
    )
    yield from ((sentence(f"product.{name}"), value) for name, value in told if value)


def _policy(variant: Data) -> str:
    if not variant.get("tracksStock"):
        return ""
    return sentence(f"policy.{variant['stockPolicy'] or 'any'}")


def level_rows(levels: Sequence[Data], frame: Frame) -> list[LevelRow]:
    """Levels of stock, in the order of the API."""
    return [
        LevelRow(
            product_id=one["productId"],
            name=one["productName"],
            variant=one["variantName"] or "",
            sku=one["sku"] or "",
            store=_store(one, frame),
            on_hand=quantity(one["onHand"]),
            reserved=quantity(one["reserved"]),
            available=quantity(one["available"]),
            state="out" if one["available"] <= 0 else "low" if one["isLow"] else "enough",
        )
        for one in levels
    ]


def move_rows(moves: Sequence[Data], frame: Frame) -> list[MoveRow]:
    """Moves of stock, the newest first."""
    return [
        MoveRow(
            kind=named("move", one["kind"]),
            name=", ".join(filter(None, (one["productName"], one["variantName"]))),
            product_id=one["productId"],
            reason=one["reason"] or "",
            order_id=one["orderId"],
            store=_store(one, frame),
            by=(one["actor"] or {}).get("name", ""),
            at=one["createdAt"],
            when=frame.when(one["createdAt"]),
            change=_signed(one["onHandChange"]),
            reserved=_signed(one["reservedChange"]),
            is_more=one["onHandChange"] > 0,
        )
        for one in moves
    ]


def _store(one: Data, frame: Frame) -> str:
    if one["storeId"] is None:
        return sentence("stock.no_store")
    names = {store["id"]: store["name"] for store in frame.stores}
    return names.get(one["storeId"], one["storeId"])


def _signed(number: Number) -> str:
    if not number:
        return ""
    return f"{'+' if number > 0 else MINUS}{quantity(abs(number))}"


def values(product: Data) -> dict[str, str]:
    """The fields of the form, as the product stands."""
    own = implicit(product)
    found = {name: product[name] or "" for name in _TEXTS}
    found |= {
        "type": product["type"],
        "base_price": quantity(product["basePrice"]),
        "tax_rate": quantity(product["taxRate"]),
        "category_id": product["categoryId"] or "",
        "image_url": product["imageUrl"] or "",
        "is_extra_only": "true" if product["isExtraOnly"] else "",
    }
    return found | (stock_values(own) if own else {})


def stock_values(variant: Data) -> dict[str, str]:
    """The fields of a variant's stock, and of its prices in stores."""
    threshold = variant["lowStockThreshold"]
    return {
        "tracks_stock": "true" if variant["tracksStock"] else "",
        "stock_policy": variant["stockPolicy"] or "",
        "low_stock_threshold": "" if threshold is None else quantity(threshold),
    } | {f"prices.{one['storeId']}": quantity(one["price"]) for one in variant["prices"]}
