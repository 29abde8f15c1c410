"""Pages of products: the list, one product, its form, and its end."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.fields import cleared, faults_at, named_by, number
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import LIST_PRODUCTS, frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import money_column
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.products import operations as ops
from tillhouse.desk.products import product as words
from tillhouse.desk.products.forms import own_stock
from tillhouse.desk.products.lists import LIST, every, priced_stores, stores_of, views

_ONE = LIST + "/{product_id}"
_PER_PAGE, _MOVES_SHOWN, _LEVELS_SHOWN = 25, 8, 100
_OPTIONAL = ("description", "category_id", "unit", "sku", "image_url")
_KINDS = ("purchase", "waste", "adjustment", "opening")
_NEW = {"tax_rate": "0", "type": "simple"}


async def show_list(page: PageRequest) -> Shown:
    """Products on sale, or off it, or those that a search finds."""
    query, frame = page.request.query, await frame_of(page)
    is_active = query.get("is_active") or "true"
    is_out = query.get("out_of_stock") == "true"
    found = await page.needed(
        LIST_PRODUCTS, limit=_PER_PAGE, page=query.get("page"), is_active=is_active,
        search=query.get("search") or None, category_id=query.get("category_id") or None,
        out_of_stock="true" if is_out else None,
    )  # fmt: skip
    categories = await every(page, ops.CATEGORIES)
    names = {one["id"]: one["name"] for one in categories}
    prices = money_column([_lowest(one) for one in found.data], frame.currency)
    facts = {
        "rows": [_row(one, price, names) for one, price in zip(found.data, prices, strict=True)],
        "categories": categories,
        "pager": pager(LIST, query, found.extra["meta"]),
        "views": views(
            page, "off_sale" if is_active == "false" else "out" if is_out else "on_sale"
        ),
        "may_make": page.may(ops.MAKE),
    }
    return Shown("products/list.html", facts)


def _lowest(product: Mapping[str, Any]) -> Any:
    return min(words.price_of(product, one) for one in product["variants"])


def _row(product: Mapping[str, Any], price: str, categories: Mapping[str, str]) -> dict[str, Any]:
    prices = {words.price_of(product, one) for one in product["variants"]}
    return {
        "id": product["id"],
        "name": product["name"],
        "sku": product["sku"] or "",
        "category": categories.get(product["categoryId"], ""),
        "type": sentence(f"type.{product['type']}"),
        "price": price if len(prices) == 1 else sentence("sell.from", price=price),
    }


async def show_product(page: PageRequest) -> Shown:
    """One product with its variants, stock and moves."""
    frame, product_id = await frame_of(page), page.path["product_id"]
    found = await page.needed(ops.PRODUCT, product_id)
    product = found.data
    tracked = [one["id"] for one in product["variants"] if one["tracksStock"]]
    variant = page.request.query.get("variant")
    variant = variant if variant in tracked else next(iter(tracked), None)
    levels = moves = None
    if tracked:
        levels, moves = await page.together(
            page.read(ops.LEVELS, product_id=product_id, limit=_LEVELS_SHOWN),
            page.read(ops.MOVES, variant_id=variant, limit=_MOVES_SHOWN),
        )
    category = await _category(page, product["categoryId"])
    facts = {
        "product": words.shown(product, category, frame),
        "levels": words.level_rows(levels.data, frame) if levels else None,
        "moves": words.move_rows(moves.data, frame) if moves else None,
        "variant": variant,
        "kinds": _KINDS,
        "stores": stores_of(frame),
        "store": frame.store_id or stores_of(frame)[0][0],
        "may": {
            "adjust": page.may(ops.ADJUST),
            "count": page.may(ops.COUNT),
            "transfer": page.may(ops.TRANSFER),
            "change": page.may(ops.CHANGE),
            "delete": page.may(ops.DELETE),
            "add_variant": page.may(ops.ADD_VARIANT),
            "change_variant": page.may(ops.CHANGE_VARIANT),
        },
    }
    return Shown("products/product.html", facts)


async def _category(page: PageRequest, category_id: str | None) -> str | None:
    if category_id is None:
        return None
    return next(
        (one["name"] for one in await every(page, ops.CATEGORIES) if one["id"] == category_id), None
    )


async def show_new(page: PageRequest) -> Shown:
    """The form of a new product."""
    page.check(ops.MAKE)
    return await _form(page, None)


async def show_edit(page: PageRequest) -> Shown:
    """The form of a product that is there."""
    page.check(ops.CHANGE)
    return await _form(page, await found_product(page))


async def make(page: PageRequest) -> Onward:
    """Make a product."""
    made = await page.act(ops.MAKE, body=_body(page), key=page.form.get("idempotency_key"))
    return Onward(f"{LIST}/{made.data['id']}")


async def change(page: PageRequest) -> Onward:
    """Change what the form says."""
    product_id = page.path["product_id"]
    await page.act(ops.CHANGE, product_id, body=_body(page))
    return Onward(f"{LIST}/{product_id}")


async def set_state(page: PageRequest) -> Onward:
    """Put it on sale, or take it off."""
    product_id = page.path["product_id"]
    body = {"is_active": page.form.get("is_active") == "true"}
    await page.act(ops.CHANGE, product_id, body=body)
    return Onward(f"{LIST}/{product_id}")


async def show_delete(page: PageRequest) -> Shown:
    """The form that deletes a product, with what goes with it."""
    page.check(ops.DELETE)
    return Shown("products/delete.html", {"product": await found_product(page)})


async def delete(page: PageRequest) -> Onward:
    """Delete a product; orders keep what they sold."""
    await page.act(ops.DELETE, page.path["product_id"])
    return Onward(LIST)


async def found_product(page: PageRequest) -> Mapping[str, Any]:
    """The product that a page is about."""
    found = await page.needed(ops.PRODUCT, page.path["product_id"])
    return found.data


def _body(page: PageRequest) -> dict[str, Any]:
    form = page.form
    body: dict[str, Any] = {name: form.get(name, "") for name in ("name", "base_price")}
    body |= cleared(form, _OPTIONAL)
    body |= {
        "tax_rate": number(form.get("tax_rate") or "0"),
        "is_extra_only": "is_extra_only" in form,
        "modifier_group_ids": form.all("modifier_group_ids"),
    }
    if form.get("type"):
        body["type"] = form["type"]
    if "has_stock" in form:
        body |= own_stock(form, named_by(form, "prices"))
    return body


async def _form(page: PageRequest, product: Mapping[str, Any] | None) -> Shown:
    frame = await frame_of(page)
    categories, groups = await every(page, ops.CATEGORIES), await every(page, ops.GROUPS)
    groups += [
        one for one in (product["modifierGroups"] if product else [])
        if one["id"] not in {group["id"] for group in groups}
    ]  # fmt: skip
    chosen = [one["id"] for one in product["modifierGroups"]] if product else []
    stores = priced_stores(frame)
    facts: dict[str, Any] = {
        "product": product,
        "values": words.values(product) if product else _NEW,
        "chosen": chosen,
        "categories": [(one["id"], one["name"]) for one in categories],
        "groups": groups,
        "stores": stores,
        "labels": labels(stores),
        "types": types(product),
        "has_stock": product is None or words.implicit(product) is not None,
    }
    return Shown("products/form.html", facts | typed(page))


def types(product: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The types that the form may choose; the others come of variants and of parts."""
    if product is None or product["type"] in ("simple", "service"):
        return ("simple", "service")
    return ()


def labels(stores: list[dict[str, Any]]) -> dict[str, str]:
    """The names of the fields of prices in stores."""
    return {
        f"prices.{one['id']}": sentence("product_form.price_in", store=one["name"])
        for one in stores
    }


def typed(page: PageRequest) -> dict[str, Any]:
    """All that was typed into a form that was refused, and its faults at their fields."""
    form = page.form
    # The button that deletes something sends none of its fields.
    if page.refusal is None or "name" not in form:
        return {}
    lists = {
        "prices": [f"prices.{store}" for store in named_by(form, "prices")],
        "modifier_group_ids": ["modifier_group_ids"] * len(form.all("modifier_group_ids")),
    }
    return {
        "values": form,
        "chosen": form.all("modifier_group_ids"),
        "faults": faults_at(page.refusal, lists),
    }


ROUTES = (
    PageRoute("GET", LIST, show_list),
    PageRoute("GET", f"{LIST}/new", show_new, goal=Goal("products.new", (ops.MAKE,), "action")),
    PageRoute("POST", f"{LIST}/new", make, refused=show_new),
    PageRoute("GET", _ONE, show_product),
    PageRoute("GET", f"{_ONE}/edit", show_edit),
    PageRoute("POST", f"{_ONE}/edit", change, refused=show_edit),
    PageRoute("POST", f"{_ONE}/state", set_state, refused=show_product),
    PageRoute("GET", f"{_ONE}/delete", show_delete),
    PageRoute("POST", f"{_ONE}/delete", delete, refused=show_delete),
)
