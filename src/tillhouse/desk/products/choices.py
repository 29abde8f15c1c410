"""Pages of choices: the groups of modifiers that products offer, with their options."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.fields import faults_at, number
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import money, quantity
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.products import operations as ops
from tillhouse.desk.products.lists import CHOICES, views
from tillhouse.kit.errors import Problem

_ONE = CHOICES + "/{group_id}"
_PER_PAGE, _ROWS_NEW, _ROWS_MORE = 25, 5, 3


async def show_list(page: PageRequest) -> Shown:
    """Groups of choices, the newest first."""
    frame, query = await frame_of(page), page.request.query
    found = await page.needed(ops.GROUPS, limit=_PER_PAGE, page=query.get("page"))
    facts = {
        "groups": [_row(one, frame.currency) for one in found.data],
        "pager": pager(CHOICES, query, found.extra["meta"]),
        "views": views(page, "choices"),
        "may_make": page.may(ops.MAKE_GROUP),
        "may_change": page.may(ops.CHANGE_GROUP),
    }
    return Shown("products/choices.html", facts)


def _row(group: Mapping[str, Any], currency: str) -> dict[str, Any]:
    least, most = group["minChoices"], group["maxChoices"]
    bounds = [
        sentence("sell.at_least", count=least) if least else "",
        sentence("sell.at_most", count=most) if most else "",
    ]
    options = [
        f"{one['name']} +{money(one['priceDelta'], currency)}" if one["priceDelta"] else one["name"]
        for one in group["options"]
        if one["isActive"]
    ]
    return {
        "id": group["id"],
        "name": group["name"],
        "bounds": ", ".join(filter(None, bounds)) or sentence("choices.any"),
        "options": ", ".join(options),
    }


async def show_new(page: PageRequest) -> Shown:
    """The form of a new group."""
    page.check(ops.MAKE_GROUP)
    return _form(page, None)


async def show_group(page: PageRequest) -> Shown:
    """The form of a group."""
    page.check(ops.CHANGE_GROUP)
    found = await page.needed(ops.GROUP, page.path["group_id"])
    return _form(page, found.data)


async def make(page: PageRequest) -> Onward:
    """Make a group with its options."""
    await page.act(ops.MAKE_GROUP, body=_body(page), key=page.form.get("idempotency_key"))
    return Onward(CHOICES)


async def change(page: PageRequest) -> Onward:
    """Change a group; an option without a name goes."""
    await page.act(ops.CHANGE_GROUP, page.path["group_id"], body=_body(page))
    return Onward(CHOICES)


async def delete(page: PageRequest) -> Onward:
    """Delete a group that no product offers."""
    await page.act(ops.DELETE_GROUP, page.path["group_id"])
    return Onward(CHOICES)


def _form(page: PageRequest, group: Mapping[str, Any] | None) -> Shown:
    options = group["options"] if group else []
    values: dict[str, str] = {}
    if group:
        values |= {
            "name": group["name"],
            "min_choices": str(group["minChoices"]),
            "max_choices": str(group["maxChoices"] or ""),
        }
    for index, one in enumerate(options):
        values |= {
            f"id.{index}": one["id"],
            f"name.{index}": one["name"],
            f"price_delta.{index}": quantity(one["priceDelta"]),
            f"is_active.{index}": "true" if one["isActive"] else "",
        }
    rows = len(options) + (_ROWS_MORE if group else _ROWS_NEW)
    values |= {f"is_active.{index}": "true" for index in range(len(options), rows)}
    facts: dict[str, Any] = {
        "group": group,
        "values": values,
        "rows": rows,
        "labels": _labels(rows),
        "may_delete": page.may(ops.DELETE_GROUP),
    }
    # The button that deletes a group sends none of its fields.
    typed = _typed(page, page.refusal, rows) if page.refusal and "name" in page.form else {}
    return Shown("products/choice.html", facts | typed)


def _labels(rows: int) -> dict[str, str]:
    return {
        f"{name}.{index}": sentence(f"choices.{name}_of", number=index + 1)
        for index in range(rows)
        for name in ("name", "price_delta")
    }


def _rows(page: PageRequest) -> list[int]:
    """The rows that say something, by their numbers; no row is beyond the fields of a form."""
    numbers = {
        int(name.removeprefix("name."))
        for name, value in page.form.items()
        if name.startswith("name.") and value.strip() and name[5:].isdecimal() and len(name) < 10
    }
    return sorted(numbers)


def _body(page: PageRequest) -> dict[str, Any]:
    form = page.form
    most = form.get("max_choices")
    return {
        "name": form.get("name", ""),
        "min_choices": number(form.get("min_choices") or "0"),
        "max_choices": number(most) if most else None,
        "options": [_option(form, row) for row in _rows(page)],
    }


def _option(form: Mapping[str, str], row: int) -> dict[str, Any]:
    option: dict[str, Any] = {
        "name": form[f"name.{row}"],
        "price_delta": form.get(f"price_delta.{row}") or "0",
        "is_active": f"is_active.{row}" in form,
    }
    if own := form.get(f"id.{row}"):
        option["id"] = own
    return option


def _typed(page: PageRequest, problem: Problem, shown: int) -> dict[str, Any]:
    rows = _rows(page)
    faults = faults_at(problem, {"options": [f"*.{row}" for row in rows]})
    # Rows that were added elsewhere meanwhile don't take away those that were typed.
    count = max([shown, *(row + 1 for row in rows)])
    return {"values": page.form, "faults": faults, "rows": count, "labels": _labels(count)}


ROUTES = (
    PageRoute("GET", CHOICES, show_list, goal=Goal("choices.title", (ops.GROUPS,))),
    PageRoute("GET", f"{CHOICES}/new", show_new),
    PageRoute("POST", f"{CHOICES}/new", make, refused=show_new),
    PageRoute("GET", _ONE, show_group),
    PageRoute("POST", _ONE, change, refused=show_group),
    PageRoute("POST", f"{_ONE}/delete", delete, refused=show_group),
)
