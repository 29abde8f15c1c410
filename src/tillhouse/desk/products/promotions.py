"""Pages of promotions: the list, and the form for both new and known ones."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.fields import faults_at
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import LIST_PRODUCTS, frame_of
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.products import operations as ops
from tillhouse.desk.products import promotion as words
from tillhouse.desk.products.lists import PROMOTIONS, every, views
from tillhouse.kit.errors import Missing

_ONE = PROMOTIONS + "/{promotion_id}"
_PER_PAGE, _NAMED_MAX = 25, 50
_NEW = {"type": "percent", "scope": "order", "is_active": "true"}
_LISTS = ("product_ids", "category_ids", "days")


async def show_list(page: PageRequest) -> Shown:
    """Promotions by name."""
    frame, query = await frame_of(page), page.request.query
    found = await page.needed(ops.PROMOTIONS, limit=_PER_PAGE, page=query.get("page"))
    facts = {
        "rows": [words.row(one, frame) for one in found.data],
        "pager": pager(PROMOTIONS, query, found.extra["meta"]),
        "views": views(page, "promotions"),
        "may_make": page.may(ops.MAKE_PROMOTION),
        "may_change": page.may(ops.CHANGE_PROMOTION),
    }
    return Shown("products/promotions.html", facts)


async def show_new(page: PageRequest) -> Shown:
    """The form of a new promotion."""
    page.check(ops.MAKE_PROMOTION)
    return await _form(page, None)


async def show_promotion(page: PageRequest) -> Shown:
    """The form of a promotion."""
    page.check(ops.CHANGE_PROMOTION)
    found = await page.needed(ops.PROMOTION, page.path["promotion_id"])
    return await _form(page, found.data)


async def make(page: PageRequest) -> Onward:
    """Make a promotion."""
    key = page.form.get("idempotency_key")
    await page.act(ops.MAKE_PROMOTION, body=words.body(page.form), key=key)
    return Onward(PROMOTIONS)


async def change(page: PageRequest) -> Onward:
    """Change a promotion; orders keep what they got."""
    body = words.body(page.form)
    await page.act(ops.CHANGE_PROMOTION, page.path["promotion_id"], body=body)
    return Onward(PROMOTIONS)


async def delete(page: PageRequest) -> Onward:
    """Delete a promotion; orders keep what they got."""
    await page.act(ops.DELETE_PROMOTION, page.path["promotion_id"])
    return Onward(PROMOTIONS)


async def _form(page: PageRequest, promotion: Mapping[str, Any] | None) -> Shown:
    frame, form, refusal = await frame_of(page), page.form, page.refusal
    values: Mapping[str, str] = _NEW
    chosen: dict[str, list[str]] = {name: [] for name in _LISTS}
    if refusal is not None:
        values, chosen = form, {name: form.all(name) for name in _LISTS}
    elif promotion is not None:
        values = words.values(promotion, frame.zone)
        chosen = {
            "product_ids": promotion["productIds"],
            "category_ids": promotion["categoryIds"],
            "days": [str(day) for day in promotion["days"] or ()],
        }
    facts: dict[str, Any] = {
        "promotion": promotion,
        "values": values,
        "chosen": chosen,
        "products": await _products(page, chosen["product_ids"]),
        "categories": await _categories(page, chosen["category_ids"]),
        "days": [str(day) for day in words.DAYS],
        "may_delete": page.may(ops.DELETE_PROMOTION),
    }
    if refusal is not None:
        lists = {name: [name] * len(chosen[name]) for name in _LISTS}
        facts["faults"] = faults_at(refusal, lists)
    return Shown("products/promotion.html", facts)


async def _products(page: PageRequest, chosen: list[str]) -> dict[str, str]:
    """The products to choose from: those that are chosen, then those that the search finds."""
    search = page.request.query.get("search") or None
    found = await page.read(LIST_PRODUCTS, search=search, limit=_PER_PAGE)
    names = {one["id"]: one["name"] for one in found.data} if found else {}
    unknown = [one for one in chosen if one not in names]
    for product_id in unknown[:_NAMED_MAX]:
        names[product_id] = await _name(page, product_id)
    return {one: names.get(one, one) for one in chosen} | names


async def _name(page: PageRequest, product_id: str) -> str:
    """The name of a product; of one that is gone, its id."""
    try:
        found = await page.ask(ops.PRODUCT, product_id)
    except Missing:
        return product_id
    return found.data["name"]


async def _categories(page: PageRequest, chosen: list[str]) -> dict[str, str]:
    names = {one["id"]: one["name"] for one in await every(page, ops.CATEGORIES)}
    return {one: names.get(one, one) for one in chosen} | names


ROUTES = (
    PageRoute("GET", PROMOTIONS, show_list, goal=Goal("promotions.title", (ops.PROMOTIONS,))),
    PageRoute(
        "GET",
        f"{PROMOTIONS}/new",
        show_new,
        goal=Goal("promotions.new", (ops.MAKE_PROMOTION,), "action"),
    ),
    PageRoute("POST", f"{PROMOTIONS}/new", make, refused=show_new),
    PageRoute("GET", _ONE, show_promotion),
    PageRoute("POST", _ONE, change, refused=show_promotion),
    PageRoute("POST", f"{_ONE}/delete", delete),
)
