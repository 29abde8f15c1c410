"""Pages of categories: the list with the form of a new one, and one category."""

from typing import Any

from tillhouse.desk.fields import number
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.products import operations as ops
from tillhouse.desk.products.lists import CATEGORIES, every, views

_ONE = CATEGORIES + "/{category_id}"


async def show_list(page: PageRequest) -> Shown:
    """Categories in the order of the business."""
    page.check(ops.CATEGORIES)
    facts: dict[str, Any] = {
        "categories": await every(page, ops.CATEGORIES),
        "views": views(page, "categories"),
        "may_make": page.may(ops.MAKE_CATEGORY),
        "may_change": page.may(ops.CHANGE_CATEGORY),
    }
    return Shown("products/categories.html", facts)


async def make(page: PageRequest) -> Onward:
    """Make a category."""
    await page.act(ops.MAKE_CATEGORY, body=_body(page), key=page.form.get("idempotency_key"))
    return Onward(CATEGORIES)


async def show_one(page: PageRequest) -> Shown:
    """The form of a category."""
    page.check(ops.CHANGE_CATEGORY)
    found = await page.needed(ops.CATEGORY, page.path["category_id"])
    facts = {"category": found.data, "may_delete": page.may(ops.DELETE_CATEGORY)}
    return Shown("products/category.html", facts)


async def change(page: PageRequest) -> Onward:
    """Change its name, or where it stands."""
    await page.act(ops.CHANGE_CATEGORY, page.path["category_id"], body=_body(page))
    return Onward(CATEGORIES)


async def delete(page: PageRequest) -> Onward:
    """Delete a category that holds no product."""
    await page.act(ops.DELETE_CATEGORY, page.path["category_id"])
    return Onward(CATEGORIES)


def _body(page: PageRequest) -> dict[str, Any]:
    body: dict[str, Any] = {"name": page.form.get("name", "")}
    if position := page.form.get("position"):
        body["position"] = number(position)
    return body


ROUTES = (
    PageRoute("GET", CATEGORIES, show_list, goal=Goal("categories.title", (ops.CATEGORIES,))),
    PageRoute("POST", CATEGORIES, make, refused=show_list),
    PageRoute("GET", _ONE, show_one),
    PageRoute("POST", _ONE, change, refused=show_one),
    PageRoute("POST", f"{_ONE}/delete", delete, refused=show_one),
)
