"""The page of a new sale: goods to add, the cart, and recording it."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from tillhouse.desk.frame.lists import address
from tillhouse.desk.frame.places import RECORD, frame_of
from tillhouse.desk.frame.words import money, quantity
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import FormRefused, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.selling import cart
from tillhouse.desk.selling.cart import CartLine
from tillhouse.kit.errors import Invalid, Missing
from tillhouse.products.room import ROOM as PRODUCTS

LIST_PRODUCTS = Operation(PRODUCTS, "GET", "/v1/products")
PRODUCT = Operation(PRODUCTS, "GET", "/v1/products/{product_id}")
_SELL = "/desk/sell"
_SHOWN = 24
_FIELDS = (
    "customer_id", "customer_name", "discount_amount", "notes", "service_mode", "table_label",
)  # fmt: skip


class Good(msgspec.Struct, frozen=True, kw_only=True):
    """A product to add: at once, or by a page that asks which."""

    name: str
    price: str
    # The line that it adds; None where something has to be chosen first.
    line: str | None
    choose: str


class ShownLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the cart in words."""

    name: str
    more: str
    price: str
    quantity: str


async def show(page: PageRequest) -> Shown:
    """The goods that fit the search, and the cart in the address."""
    lines = cart.changed(cart.read(page.request.query.get("cart", "")), page.request.query)
    return await _sale(page, lines)


async def show_choices(page: PageRequest) -> Shown:
    """A product whose variant or choices are to be told."""
    frame = await frame_of(page)
    found = await page.needed(PRODUCT, page.path["product_id"])
    product = found.data
    facts = {
        "product": product,
        "variants": [one for one in product["variants"] if one["isActive"]],
        "price_of": lambda variant: money(_price(product, variant), frame.currency),
        "delta_of": lambda option: money(option["priceDelta"], frame.currency),
        "cart": page.request.query.get("cart", ""),
    }
    return Shown("selling/choose.html", facts)


async def add(page: PageRequest) -> Onward:
    """Add a product with what was chosen, or something that is in no catalogue."""
    form = page.form
    lines = cart.read(form.get("cart", ""))
    try:
        added = _added(form)
    except ValueError:
        raise Missing from None
    if added is None or not added.quantity > 0:
        raise Invalid.field("name", "tell its name and its price")
    text = cart.write(cart.changed(lines, {"add": added.text}))
    return Onward(address(_SELL, {"cart": text}))


def _added(form: Mapping[str, str]) -> CartLine | None:
    if not form.get("product_id"):
        name, price = form.get("name", "").strip(), form.get("price", "").replace(",", "")
        return cart.read_line("_".join(("x", "1", price, name.encode().hex())))
    choices = [
        (UUID(name.partition(".")[2].partition(".")[0]), UUID(value))
        for name, value in form.items()
        if name.startswith("choice.") and value
    ]
    line = CartLine(
        quantity=Decimal(),
        product=UUID(form["product_id"]),
        variant=UUID(form["variant_id"]) if form.get("variant_id") else None,
        choices=tuple(choices),
    )
    text = msgspec.structs.replace(line, quantity=Decimal(1)).text.split("_")
    text[2] = form.get("quantity", "1")
    return cart.read_line("_".join(text))


async def record(page: PageRequest) -> Shown | Onward:
    """Record the sale, and go on to its payment."""
    frame, lines = await frame_of(page), cart.read(page.form.get("cart", ""))
    body: dict[str, Any] = {"items": [line.body for line in lines], "channel": "in_person"}
    body |= {name: page.form[name] for name in _FIELDS if page.form.get(name)}
    if frame.store:
        body["store_id"] = frame.store["id"]
    try:
        made = await page.act(RECORD, body=body, key=page.form.get("idempotency_key"))
    except FormRefused as refused:
        return msgspec.structs.replace(await _sale(page, lines), refusal=refused.problem)
    return Onward(f"/desk/orders/{made.data['id']}#pay")


async def _sale(page: PageRequest, lines: list[CartLine]) -> Shown:
    frame, query = await frame_of(page), page.request.query
    search = query.get("search") or None
    ids = list({line.product for line in lines if line.product})
    listed, *products = await page.together(
        page.read(LIST_PRODUCTS, search=search, is_active="true", limit=_SHOWN),
        *(page.ask(PRODUCT, str(one)) for one in ids),
    )
    by_id = dict(zip(ids, (found.data for found in products if found), strict=True))
    text = cart.write(lines)
    facts: dict[str, Any] = {
        "goods": [_good(one, text, frame.currency) for one in (listed.data if listed else [])],
        "lines": [_shown(line, by_id, frame.currency) for line in lines],
        "cart": text,
        "customer_id": page.form.get("customer_id") or query.get("customer_id", ""),
        "customer_name": page.form.get("customer_name") or query.get("customer_name", ""),
        "may_record": page.may(RECORD),
    }
    return Shown("selling/sell.html", facts)


def _good(product: Mapping[str, Any], text: str, currency: str) -> Good:
    variants = [one for one in product["variants"] if one["isActive"]]
    is_plain = len(variants) == 1 and not product["modifierGroups"]
    line = CartLine(
        quantity=Decimal(1),
        product=UUID(product["id"]),
        variant=UUID(variants[0]["id"]) if is_plain else None,
    )
    lowest = min((_price(product, one) for one in variants), default=product["basePrice"])
    return Good(
        name=product["name"],
        price=money(lowest, currency),
        line=line.text if is_plain else None,
        choose=f"{_SELL}/choose/{product['id']}?{urlencode({'cart': text})}",
    )


def _price(product: Mapping[str, Any], variant: Mapping[str, Any]) -> Any:
    return product["basePrice"] if variant["price"] is None else variant["price"]


def _shown(line: CartLine, by_id: Mapping[UUID, Mapping[str, Any]], currency: str) -> ShownLine:
    count = quantity(line.quantity)
    if line.product is None:
        price = money(Decimal(line.price), currency)
        return ShownLine(name=line.name, more="", price=price, quantity=count)
    product = by_id[line.product]
    variants = {one["id"]: one for one in product["variants"]}
    variant = variants.get(str(line.variant))
    chosen = {str(option) for _, option in line.choices}
    options = [
        option for group in product["modifierGroups"] for option in group["options"]
        if option["id"] in chosen
    ]  # fmt: skip
    more = [variant["name"] if variant else "", *(option["name"] for option in options)]
    price = _price(product, variant) if variant else product["basePrice"]
    return ShownLine(
        name=product["name"],
        more=", ".join(filter(None, more)),
        price=money(price + sum(option["priceDelta"] for option in options), currency),
        quantity=count,
    )


ROUTES = (
    PageRoute("GET", _SELL, show),
    PageRoute("GET", f"{_SELL}/choose/{{product_id}}", show_choices),
    PageRoute("POST", f"{_SELL}/add", add),
    PageRoute("POST", f"{_SELL}/record", record),
)
