"""Pages of stock: levels, moves, and the sheets of a count and of a transfer between stores."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tillhouse.desk.fields import faults_at, named_by, number
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import LIST_PRODUCTS, frame_of
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import Goal, Live, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.products import operations as ops
from tillhouse.desk.products.lists import LIST, MOVES, STOCK, stores_of, views
from tillhouse.desk.products.pages import show_product
from tillhouse.desk.products.product import level_rows, move_rows

_PER_PAGE = 25
_KINDS = (
    "", "sale", "purchase", "waste", "adjustment", "count", "transfer", "opening", "reservation",
    "release", "restore", "return",
)  # fmt: skip


class Sheet(msgspec.Struct, frozen=True):
    """A form with a field for each variant."""

    # The word of its sentences, and the field of an item that is typed.
    name: str
    field: str
    operation: Operation
    # The fields of its stores.
    stores: tuple[str, ...]


_COUNT = Sheet("count", "counted", ops.COUNT, ("store_id",))
_TRANSFER = Sheet("transfer", "quantity", ops.TRANSFER, ("from_store_id", "to_store_id"))


async def show_levels(page: PageRequest) -> Shown:
    """Levels of stock: all, or those that run low, in the chosen store."""
    frame, query = await frame_of(page), page.request.query
    found = await page.needed(
        ops.LEVELS, limit=_PER_PAGE, page=query.get("page"), low=query.get("low") or None,
        product_id=query.get("product_id") or None,
        store_id=frame.store_id,
    )  # fmt: skip
    facts = {
        "rows": level_rows(found.data, frame),
        "pager": pager(STOCK, query, found.extra["meta"]),
        "views": views(page, "low" if query.get("low") == "true" else "stock"),
        "may": {"count": page.may(ops.COUNT), "transfer": page.may(ops.TRANSFER)},
    }
    return Shown("products/stock.html", facts)


async def show_moves(page: PageRequest) -> Shown:
    """Moves of stock, the newest first: of one kind, of one variant, in the chosen store."""
    frame, query = await frame_of(page), page.request.query
    found = await page.needed(
        ops.MOVES, limit=_PER_PAGE, page=query.get("page"), kind=query.get("kind") or None,
        variant_id=query.get("variant_id") or None,
        store_id=frame.store_id,
    )  # fmt: skip
    facts = {
        "rows": move_rows(found.data, frame),
        "pager": pager(MOVES, query, found.extra["meta"]),
        "views": views(page, "moves"),
        "kinds": _KINDS,
    }
    return Shown("products/moves.html", facts)


async def adjust(page: PageRequest) -> Onward:
    """Change the stock of a variant by so much."""
    form, product_id = page.form, page.path["product_id"]
    body: dict[str, Any] = {name: form.get(name, "") for name in ("variant_id", "kind")}
    body |= {
        "quantity": number(form.get("quantity", "")),
        "store_id": form.get("store_id") or None,
        "reason": form.get("reason") or None,
        "allow_negative": "allow_negative" in form,
    }
    await page.act(ops.ADJUST, body=body, key=form.get("idempotency_key"))
    return Onward(f"{LIST}/{product_id}?variant={body['variant_id']}")


def _pages_of(sheet: Sheet) -> tuple[PageRoute, PageRoute]:
    async def show(page: PageRequest) -> Shown:
        page.check(sheet.operation)
        return await _sheet(page, sheet)

    async def take(page: PageRequest) -> Onward:
        form = page.form
        body: dict[str, Any] = {name: form.get(name) or None for name in (*sheet.stores, "reason")}
        body["items"] = [
            {"variant_id": variant, sheet.field: number(value)}
            for variant, value in named_by(form, sheet.field).items()
        ]
        await page.act(sheet.operation, body=body, key=form.get("idempotency_key"))
        product_id = page.request.query.get("product_id")
        return Onward(f"{LIST}/{product_id}" if product_id else STOCK)

    address = f"{STOCK}/{sheet.name}"
    return PageRoute("GET", address, show), PageRoute("POST", address, take, refused=show)


async def _sheet(page: PageRequest, sheet: Sheet) -> Shown:
    frame, query = await frame_of(page), page.request.query
    address = f"{STOCK}/{sheet.name}"
    if product_id := query.get("product_id"):
        found = await page.needed(ops.PRODUCT, product_id)
        goods, paged = [found.data], None
    else:
        found = await page.needed(
            LIST_PRODUCTS, limit=_PER_PAGE, page=query.get("page"),
            search=query.get("search") or None,
        )  # fmt: skip
        goods, paged = found.data, pager(address, query, found.extra["meta"])
    rows = [_row(product, variant) for product in goods for variant in product["variants"]
            if variant["tracksStock"]]  # fmt: skip
    facts: dict[str, Any] = {
        "sheet": sheet,
        "address": address,
        "rows": rows,
        "pager": paged,
        "stores": stores_of(frame),
        "store": frame.store_id or stores_of(frame)[0][0],
        "labels": {f"{sheet.field}.{one['id']}": one["label"] for one in rows},
    }
    if page.refusal is not None:
        fields = [f"{sheet.field}.{variant}" for variant in named_by(page.form, sheet.field)]
        facts["faults"] = faults_at(page.refusal, {"items": fields})
    return Shown("products/sheet.html", facts)


def _row(product: Mapping[str, Any], variant: Mapping[str, Any]) -> dict[str, str]:
    return {
        "id": variant["id"],
        "name": product["name"],
        "variant": variant["name"],
        "sku": variant["sku"] or product["sku"] or "",
        "unit": product["unit"] or "",
        "label": " ".join(filter(None, (product["name"], variant["name"]))),
    }


_ROWS = ("list",)
_LIVE = Live(
    (ops.LEVELS,),
    {"order.": _ROWS, "inventory.": _ROWS, "product.": _ROWS},
)
ROUTES = (
    PageRoute("GET", STOCK, show_levels, live=_LIVE, goal=Goal("stock.title", (ops.LEVELS,))),
    PageRoute("GET", MOVES, show_moves, goal=Goal("stock.moves", (ops.MOVES,))),
    PageRoute("POST", f"{LIST}/{{product_id}}/stock", adjust, refused=show_product),
    *_pages_of(_COUNT),
    *_pages_of(_TRANSFER),
)
