"""The page of a new sale: goods to add, the cart, and recording it.

All of it is one form: whichever button is pressed, nothing that was typed is lost. The page that
comes after a change has all of it in its address, so that Back and a reload work.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.desk.customers.operations import CUSTOMER
from tillhouse.desk.fields import faults_at
from tillhouse.desk.frame.lists import address
from tillhouse.desk.frame.places import LIST_PRODUCTS, RECORD, Frame, frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import money, quantity
from tillhouse.desk.operations import Operation, OperationAnswer
from tillhouse.desk.page import FormRefused, Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.selling import cart
from tillhouse.desk.selling.cart import Cart, CartLine
from tillhouse.desk.selling.options import options_of
from tillhouse.desk.selling.total import PREVIEW, WorkedOut, worked_out
from tillhouse.desk.settings.operations import BUSINESS
from tillhouse.kit.errors import Invalid, Missing, Problem
from tillhouse.kit.money import round_money
from tillhouse.products.room import ROOM as PRODUCTS

PRODUCT = Operation(PRODUCTS, "GET", "/v1/products/{product_id}")
_SELL = "/desk/sell"
# The kinds of business whose sales say how a guest is served.
_WITH_SERVICE = ("restaurant", "hotel")
_SHOWN = 24
# Fields of the body of an order.
_FIELDS = (
    "customer_id", "customer_name", "discount_amount", "promotion_id", "notes", "service_mode",
    "service_charge_amount", "table_label", "academic_term_id", "hotel_room_id",
)  # fmt: skip
# The fields that every page of a sale carries on.
_KEPT = ("cart", "search", "category_id", "tags", *_FIELDS)


class Good(msgspec.Struct, frozen=True, kw_only=True):
    """A product to add: at once, or by a page that asks which."""

    id: str
    name: str
    price: str
    # The line that it adds; None where something has to be chosen first.
    line: str | None


class ShownLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the cart in words."""

    name: str
    more: str
    # The price of one; empty where there is one.
    each: str
    # The cost of the line before discount, tax and charges; None where that isn't known.
    amount: Decimal | None
    price: str
    quantity: str

    @property
    def title(self) -> str:
        """Its name with what was chosen: two of one name are told apart."""
        return ", ".join(filter(None, (self.name, self.more)))


async def show(page: PageRequest) -> Shown:
    """The goods that fit the search, and the cart in the address."""
    page.check(RECORD)
    found = cart.read(page.request.query.get("cart", ""))
    fault = None if found.is_whole else Invalid.field("cart", sentence("sell.unreadable"))
    return await _sale(page, found, page.request.query, fault)


async def show_choices(page: PageRequest) -> Shown:
    """A product whose variant or choices are to be told."""
    page.check(RECORD)
    return await _choices(page, page.request.query)


async def change(page: PageRequest) -> Shown | Onward:
    """Search, add goods, one more or one less of a line, or something in no catalogue."""
    form = page.form
    found = cart.read(form.get("cart", ""))
    if product_id := form.get("choose"):
        return Onward(_with(f"{_SELL}/choose/{_word(product_id)}", form, found))
    added = cart.read_line(form.get("add", ""))
    for name, by in (("more", 1), ("less", -1)):
        if (index := form.get(name, "")).isdecimal():
            found = found.with_more(int(index[:4]), Decimal(by))
    if "other" in form:
        name, price = form.get("name", "").strip(), form.get("price", "").strip()
        added = cart.read_line("_".join(("x", "1", price, name.encode().hex())))
        if added is None:
            field = "price" if name and len(name) <= cart.NAME_LENGTH_MAX else "name"
            fault = Invalid.field(field, sentence(f"sell.no_{field}"))
            return await _sale(page, found, form, fault)
    full = found.with_line(added) if added else found
    if full is None:
        return await _sale(page, found, form, Invalid.field("cart", sentence("sell.full")))
    return Onward(_with(_SELL, form, full))


async def add(page: PageRequest) -> Shown | Onward:
    """Add a product with what was chosen."""
    form = page.form
    found = cart.read(form.get("cart", ""))
    try:
        added = _chosen(page)
    except ValueError:
        raise Missing from None
    if added is None:
        fault = Invalid.field("quantity", sentence("sell.no_quantity"))
        return msgspec.structs.replace(await _choices(page, form), refusal=fault)
    full = found.with_line(added)
    if full is None:
        return await _sale(page, found, form, Invalid.field("cart", sentence("sell.full")))
    return Onward(_with(_SELL, form, full))


async def record(page: PageRequest) -> Shown | Onward:
    """Record the sale, and go on to its payment."""
    found = cart.read(page.form.get("cart", ""))
    try:
        made = await _sent(page, RECORD, found, page.form.get("idempotency_key"))
    except FormRefused as refused:
        return await _sale(page, found, page.form, refused.problem)
    return Onward(f"/desk/orders/{made.data['id']}#pay")


async def show_total(page: PageRequest) -> Shown:
    """The sale with what it comes to, and all that was typed; nothing is recorded."""
    found = cart.read(page.form.get("cart", ""))
    try:
        told = await _sent(page, PREVIEW, found)
    except FormRefused as refused:
        return await _sale(page, found, page.form, refused.problem)
    return await _sale(page, found, page.form, total=worked_out(told.data))


async def _sent(
    page: PageRequest, operation: Operation, found: Cart, key: str | None = None
) -> OperationAnswer:
    """The answer to the sale of the form, or why it is refused."""
    if not found.is_whole:
        raise FormRefused(Invalid.field("cart", sentence("sell.unreadable")))
    try:
        return await page.act(operation, body=_body(page, found), key=key)
    except Missing as missing:
        raise FormRefused(missing) from missing


def _body(page: PageRequest, found: Cart) -> dict[str, Any]:
    """The body of the order."""
    body: dict[str, Any] = {"items": [line.body for line in found.lines], "channel": "in_person"}
    body |= {name: page.form[name] for name in _FIELDS if page.form.get(name)}
    if tags := [tag.strip() for tag in page.form.get("tags", "").split(",") if tag.strip()]:
        body["tags"] = tags
    if store_id := page.form.get("store_id"):
        body["store_id"] = store_id
    return body


def _with(path: str, form: Mapping[str, str], found: Cart) -> str:
    kept = {name: form.get(name, "") for name in _KEPT} | {"cart": found.text}
    return address(path, kept)


def _word(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise Missing from None


def _chosen(page: PageRequest) -> CartLine | None:
    form = page.form
    choices = [
        (UUID(name.removeprefix("choice.").partition(".")[0]), UUID(value))
        for name, value in form.items()
        if name.startswith("choice.") and value
    ]
    line = CartLine(
        quantity=Decimal(1),
        product=UUID(page.path["product_id"]),
        variant=UUID(form["variant_id"]) if form.get("variant_id") else None,
        choices=tuple(choices),
    )
    count = form.get("quantity", "1").strip()
    product, variant, _, *rest = line.text.split("_")
    return None if "_" in count else cart.read_line("_".join([product, variant, count, *rest]))


async def _choices(page: PageRequest, typed: Mapping[str, str]) -> Shown:
    frame = await frame_of(page)
    product = (await page.needed(PRODUCT, page.path["product_id"])).data
    facts = {
        "product": product,
        "variants": [one for one in product["variants"] if one["isActive"]],
        "price_of": lambda variant: money(_price(product, variant, frame), frame.currency),
        "delta_of": lambda option: money(option["priceDelta"], frame.currency),
        "kept": [(name, typed.get(name, "")) for name in _KEPT if typed.get(name)],
        "back": _with(_SELL, typed, cart.read(typed.get("cart", ""))),
    }
    return Shown("selling/choose.html", facts)


async def _sale(
    page: PageRequest,
    found: Cart,
    typed: Mapping[str, str],
    refusal: Problem | None = None,
    total: WorkedOut | None = None,
) -> Shown:
    frame = await frame_of(page)
    search, customer_id = typed.get("search") or None, typed.get("customer_id") or None
    ids = list({line.product for line in found.lines if line.product})
    options = await options_of(page, frame)
    listed, customer, business, *products = await page.together(
        page.read(
            LIST_PRODUCTS,
            search=search,
            category_id=typed.get("category_id") or None,
            is_active="true",
            limit=_SHOWN,
        ),
        page.read(CUSTOMER, customer_id) if customer_id else _nothing(),
        page.read(BUSINESS) if frame.business.type in _WITH_SERVICE else _nothing(),
        *(_product(page, one) for one in ids),
    )
    by_id = {one: there.data for one, there in zip(ids, products, strict=True) if there}
    lines = [_shown(line, by_id, frame) for line in found.lines]
    amounts = [line.amount for line in lines]
    facts: dict[str, Any] = {
        "goods": [_good(one, frame) for one in (listed.data if listed else [])],
        "lines": lines,
        # The tax and the total are the server's to reckon, when they are asked for.
        "total": total,
        "subtotal": money(sum(filter(None, amounts), Decimal()), frame.currency)
        if lines and None not in amounts and total is None
        else None,
        "cart": found.text,
        "typed": typed,
        "options": options,
        "has_service": frame.business.type in _WITH_SERVICE,
        "charge_hint": _charge_hint(business.data) if business else "",
        "customer": customer.data if customer else None,
    }
    if refusal:
        # The fault of any tag stands at the field of all.
        tags = ["tags"] * len(typed.get("tags", ""))
        facts["faults"] = faults_at(refusal, {"tags": tags})
    return Shown("selling/sell.html", facts, refusal=refusal)


def _charge_hint(business: Mapping[str, Any]) -> str:
    """The charge of a sale that names none; empty where there is none."""
    percent, modes = business["serviceChargePercent"], business["serviceChargeModes"]
    if percent is None or not modes:
        return ""
    names = ", ".join(sentence(f"service.{mode}") for mode in modes)
    return sentence("sell.charge_hint", percent=quantity(percent), modes=names)


async def _nothing() -> None:
    return None


async def _product(page: PageRequest, product_id: UUID) -> OperationAnswer | None:
    """A product of the cart; None when it was deleted meanwhile, or never was of this book."""
    try:
        return await page.ask(PRODUCT, str(product_id))
    except Missing:
        return None


def _good(product: Mapping[str, Any], frame: Frame) -> Good:
    variants = [one for one in product["variants"] if one["isActive"]]
    is_plain = len(variants) == 1 and not product["modifierGroups"]
    line = CartLine(
        quantity=Decimal(1),
        product=UUID(product["id"]),
        variant=UUID(variants[0]["id"]) if is_plain else None,
    )
    lowest = min((_price(product, one, frame) for one in variants), default=product["basePrice"])
    return Good(
        id=product["id"],
        name=product["name"],
        price=money(lowest, frame.currency),
        line=line.text if is_plain else None,
    )


def _price(product: Mapping[str, Any], variant: Mapping[str, Any], frame: Frame) -> Any:
    """The price in the store that is chosen, else that of the variant, else of the product."""
    store_id = frame.store_id
    prices = {one["storeId"]: one["price"] for one in variant["prices"]}
    price = prices.get(store_id, variant["price"])
    return product["basePrice"] if price is None else price


def _shown(line: CartLine, by_id: Mapping[UUID, Mapping[str, Any]], frame: Frame) -> ShownLine:
    product = by_id.get(line.product) if line.product else None
    if product:
        name, price, more = product["name"], *_choice_of(line, product, frame)
    else:
        name = sentence("sell.gone") if line.product else line.name
        price, more = None if line.product else Decimal(line.price), ""
    amount = None if price is None else round_money(price * line.quantity, frame.currency)
    each = ""
    if price is not None and line.quantity != 1:
        each = sentence("sell.each", price=money(price, frame.currency))
    return ShownLine(
        name=name,
        more=more,
        each=each,
        amount=amount,
        price="" if amount is None else money(amount, frame.currency),
        quantity=quantity(line.quantity),
    )


def _choice_of(line: CartLine, product: Mapping[str, Any], frame: Frame) -> tuple[Decimal, str]:
    """The price of one as it was chosen, and the choice in words."""
    variants = {one["id"]: one for one in product["variants"]}
    variant = variants.get(str(line.variant))
    chosen = {str(option) for _, option in line.choices}
    options = [
        option for group in product["modifierGroups"] for option in group["options"]
        if option["id"] in chosen
    ]  # fmt: skip
    more = [variant["name"] if variant else "", *(option["name"] for option in options)]
    price = _price(product, variant, frame) if variant else product["basePrice"]
    return (
        Decimal(price) + sum(option["priceDelta"] for option in options),
        ", ".join(filter(None, more)),
    )


ROUTES = (
    PageRoute("GET", _SELL, show, goal=Goal("sell.title", (RECORD,), "action", key="n")),
    PageRoute("POST", f"{_SELL}/change", change),
    PageRoute("GET", f"{_SELL}/choose/{{product_id}}", show_choices),
    PageRoute("POST", f"{_SELL}/choose/{{product_id}}", add),
    PageRoute("POST", f"{_SELL}/total", show_total),
    PageRoute("POST", f"{_SELL}/record", record),
)
