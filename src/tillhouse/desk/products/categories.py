"""Pages of categories: the list with the form of a new one, and one category."""

from typing import Any

from tillhouse.desk.fields import number
from tillhouse.desk.page import FormRefused, Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.products import operations as ops
from tillhouse.desk.products.lists import CATEGORIES, every, views
from tillhouse.kit.errors import Problem

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


async def make(page: PageRequest) -> Shown | Onward:
    """Make a category."""
    key = page.form.get("idempotency_key")
    try:
        await page.act(ops.MAKE_CATEGORY, body=_body(page), key=key)
    except FormRefused as refused:
        shown = await show_list(page)
        return Shown(shown.template, shown.facts, refusal=refused.problem)
    return Onward(CATEGORIES)


async def show_one(page: PageRequest) -> Shown:
    """The form of a category."""
    page.check(ops.CHANGE_CATEGORY)
    return await _one(page)


async def change(page: PageRequest) -> Shown | Onward:
    """Change its name, or where it stands."""
    try:
        await page.act(ops.CHANGE_CATEGORY, page.path["category_id"], body=_body(page))
    except FormRefused as refused:
        return await _one(page, refused.problem)
    return Onward(CATEGORIES)


async def delete(page: PageRequest) -> Shown | Onward:
    """Delete a category that holds no product."""
    try:
        await page.act(ops.DELETE_CATEGORY, page.path["category_id"])
    except FormRefused as refused:
        return await _one(page, refused.problem)
    return Onward(CATEGORIES)


async def _one(page: PageRequest, refusal: Problem | None = None) -> Shown:
    found = await page.needed(ops.CATEGORY, page.path["category_id"])
    facts = {"category": found.data, "may_delete": page.may(ops.DELETE_CATEGORY)}
    return Shown("products/category.html", facts, refusal=refusal)


def _body(page: PageRequest) -> dict[str, Any]:
    body: dict[str, Any] = {"name": page.form.get("name", "")}
    if position := page.form.get("position"):
        body["position"] = number(position)
    return body


ROUTES = (
    PageRoute("GET", CATEGORIES, show_list, goal=Goal("categories.title", (ops.CATEGORIES,))),
    PageRoute("POST", CATEGORIES, make),
    PageRoute("GET", _ONE, show_one),
    PageRoute("POST", _ONE, change),
    PageRoute("POST", f"{_ONE}/delete", delete),
)
