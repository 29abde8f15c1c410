"""Pages of the variants of a product, and of the parts of a bundle."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.fields import cleared, faults_at, named_by, number
from tillhouse.desk.frame.places import LIST_PRODUCTS, frame_of
from tillhouse.desk.frame.words import quantity
from tillhouse.desk.page import Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.products import operations as ops
from tillhouse.desk.products.forms import own_stock
from tillhouse.desk.products.lists import LIST, priced_stores
from tillhouse.desk.products.pages import found_product, labels, typed
from tillhouse.desk.products.product import stock_values
from tillhouse.kit.errors import Missing

_ONE = LIST + "/{product_id}"
_VARIANTS = f"{_ONE}/variants"
_VARIANT = _VARIANTS + "/{variant_id}"
_PARTS = f"{_ONE}/parts"
_FOUND_SHOWN = 25


async def show_new(page: PageRequest) -> Shown:
    """The form of another variant."""
    page.check(ops.ADD_VARIANT)
    return await _form(page)


async def show_variant(page: PageRequest) -> Shown | Onward:
    """The form of a variant; one that is the product itself is changed there."""
    page.check(ops.CHANGE_VARIANT)
    shown = await _form(page)
    if shown.facts["variant"]["isImplicit"]:
        return Onward(f"{LIST}/{page.path['product_id']}/edit")
    return shown


async def add(page: PageRequest) -> Onward:
    """Add a variant."""
    product_id, key = page.path["product_id"], page.form.get("idempotency_key")
    await page.act(ops.ADD_VARIANT, product_id, body=_body(page), key=key)
    return Onward(f"{LIST}/{product_id}")


async def change(page: PageRequest) -> Onward:
    """Change a variant."""
    await page.act(ops.CHANGE_VARIANT, page.path["variant_id"], body=_body(page))
    return Onward(f"{LIST}/{page.path['product_id']}")


async def delete(page: PageRequest) -> Onward:
    """Delete a variant; the last one stays."""
    await page.act(ops.DELETE_VARIANT, page.path["variant_id"])
    return Onward(f"{LIST}/{page.path['product_id']}")


def _body(page: PageRequest) -> dict[str, Any]:
    form = page.form
    body: dict[str, Any] = {"name": form.get("name", ""), "is_active": "is_active" in form}
    return (
        body
        | cleared(form, ("sku", "price", "image_url"))
        | own_stock(form, named_by(form, "prices"))
    )


async def _form(page: PageRequest) -> Shown:
    frame, product = await frame_of(page), await found_product(page)
    variant = None
    if variant_id := page.path.get("variant_id"):
        variant = next((one for one in product["variants"] if one["id"] == variant_id), None)
        if variant is None:
            raise Missing
    stores = priced_stores(frame)
    facts: dict[str, Any] = {
        "product": product,
        "variant": variant,
        "values": _values(variant) if variant else {"is_active": "true"},
        "stores": stores,
        "labels": labels(stores),
        "may_delete": page.may(ops.DELETE_VARIANT),
    }
    return Shown("products/variant.html", facts | typed(page))


def _values(variant: Mapping[str, Any]) -> dict[str, str]:
    price = variant["price"]
    return {
        "name": variant["name"],
        "sku": variant["sku"] or "",
        "price": "" if price is None else quantity(price),
        "image_url": variant["imageUrl"] or "",
        "is_active": "true" if variant["isActive"] else "",
    } | stock_values(variant)


async def show_parts(page: PageRequest) -> Shown:
    """The parts of a bundle, and goods to put into it."""
    page.check(ops.CHANGE)
    product = await found_product(page)
    search = page.request.query.get("search") or None
    found = await page.needed(LIST_PRODUCTS, search=search, is_active="true", limit=_FOUND_SHOWN)
    parts = {
        _part(one["productId"], one["variantId"]): (one["name"], quantity(one["quantity"]))
        for one in product["components"]
    }
    goods = [
        (_part(one["id"], variant["id"]), one["name"], variant["name"])
        for one in found.data
        if one["type"] != "bundle" and one["id"] != product["id"]
        for variant in one["variants"]
    ]
    facts = {
        "product": product,
        "parts": parts,
        "goods": [one for one in goods if one[0] not in parts],
        "labels": {f"part.{part}": name for part, (name, _) in parts.items()},
    }
    if page.refusal is not None:
        typed_parts = [f"part.{part}" for part in _typed_parts(page)]
        facts["faults"] = faults_at(page.refusal, {"components": typed_parts})
    return Shown("products/parts.html", facts)


def _part(product_id: str, variant_id: str) -> str:
    return f"{product_id}.{variant_id}"


async def set_parts(page: PageRequest) -> Onward:
    """Replace the parts; a product with parts is a bundle, and one without is simple."""
    product_id = page.path["product_id"]
    components = [
        {"product_id": ids[0], "variant_id": ids[2], "quantity": number(count)}
        for part, count in _typed_parts(page).items()
        if (ids := part.partition("."))
    ]
    body = {"type": "bundle" if components else "simple", "components": components}
    await page.act(ops.CHANGE, product_id, body=body)
    return Onward(page.action if page.form.get("add") else f"{LIST}/{product_id}")


def _typed_parts(page: PageRequest) -> dict[str, str]:
    """How many of each part, one of that which is added."""
    parts = named_by(page.form, "part")
    if added := page.form.get("add"):
        parts[added] = parts.get(added) or "1"
    return parts


ROUTES = (
    PageRoute("GET", f"{_VARIANTS}/new", show_new),
    PageRoute("POST", f"{_VARIANTS}/new", add, refused=_form),
    PageRoute("GET", _VARIANT, show_variant),
    PageRoute("POST", _VARIANT, change, refused=_form),
    PageRoute("POST", f"{_VARIANT}/delete", delete, refused=_form),
    PageRoute("GET", _PARTS, show_parts),
    PageRoute("POST", _PARTS, set_parts, refused=show_parts),
)
