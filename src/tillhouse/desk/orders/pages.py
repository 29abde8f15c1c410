"""Pages of orders: the list, one order, and what is done to it."""

from typing import Any
from urllib.parse import urlsplit
from uuid import uuid5

import msgspec

from tillhouse.desk.fields import faults_at, named_by, number
from tillhouse.desk.frame.lists import address, pager
from tillhouse.desk.frame.places import LIST_CUSTOMERS, LIST_ORDERS, RECORD, Frame, frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import exact
from tillhouse.desk.links.operations import MAKE as MAKE_LINK
from tillhouse.desk.operations import Operation, OperationAnswer
from tillhouse.desk.orders import operations as ops
from tillhouse.desk.orders.listing import LIST, VIEWS, filters, rows
from tillhouse.desk.orders.order import delivery, shown
from tillhouse.desk.page import (
    FormRefused,
    Handler,
    Live,
    Onward,
    PageRequest,
    PageRoute,
    Show,
    Shown,
)
from tillhouse.desk.search.found import FIND, LENGTH_MAX, LENGTH_MIN
from tillhouse.kit.errors import Invalid, Missing

_LIST = "/desk/orders"
_ONE = _LIST + "/{order_id}"
_DELIVERIES_SHOWN = 12
_METHODS = ("cash", "transfer", "pos", "credit", "other")


async def show_list(page: PageRequest) -> Shown:
    """Orders, the newest first, by the filters in the address."""
    frame, query = await frame_of(page), page.request.query
    # A count of all stores leads to all of its orders, whichever store is chosen.
    is_of_all = query.get("stores") == "all"
    store = frame.store["id"] if frame.store and not is_of_all else None
    today = frame.local.date().isoformat()
    found = await page.needed(LIST, **filters(query, today), store_id=store)
    facts: dict[str, Any] = {
        "rows": rows(found.data, frame),
        "summary": found.extra["summary"],
        "pager": pager(_LIST, query, found.extra["meta"]),
        "views": [
            (name, address(_LIST, view), all(query.get(key, "") == view[key] for key in view)
             and not set(query) - set(view) - {"page", "search", "stores"})
            for name, view in VIEWS.items()
        ],
        "is_wider": frame.store is not None and is_of_all,
        "here": address(_LIST, {**query, "stores": "", "page": ""}),
        "may_sell": page.may(RECORD),
    }  # fmt: skip
    return Shown("orders/list.html", facts)


async def find_order(page: PageRequest) -> Onward:
    """The order that has this code, as people write and say it."""
    code = page.path["order_id"]
    if not LENGTH_MIN <= len(code) <= LENGTH_MAX:
        raise Missing(sentence("order_page.no_code"))
    found = await page.needed(FIND, q=code, limit=1)
    ids = [one["id"] for one in found.data if one["kind"] == "order" and one["isExact"]]
    if not ids:
        raise Missing(sentence("order_page.no_code"))
    return Onward(f"{_LIST}/{ids[0]}")


async def show_order(page: PageRequest) -> Shown:
    """One order with all that happened to it."""
    return await _order(page, "orders/order.html")


async def show_refund(page: PageRequest) -> Shown:
    """The form that gives money of an order back."""
    page.check(ops.REFUND)
    return await _order(page, "orders/refund.html")


async def show_cancel(page: PageRequest) -> Shown:
    """The form that cancels an order, with what becomes of its money."""
    page.check(ops.CHANGE)
    return await _order(page, "orders/cancel.html")


async def pay(page: PageRequest) -> Onward:
    """Record a payment."""
    names = ("amount", "method", "reference", "tip")
    body = {name: page.form[name] for name in names if page.form.get(name)}
    return await _done(page, ops.PAY, body | _seen(page))


async def refund(page: PageRequest) -> Shown | Onward:
    """Give money back, by lines or by an amount."""
    body: dict[str, Any] = {
        name: page.form[name] for name in ("amount", "method", "reason") if page.form.get(name)
    }
    if back := _lines_back(page):
        body["lines"] = [{"item_id": item, "quantity": count} for item, count in back.items()]
    if page.form.get("restock"):
        body["restock"] = True
    if page.form.get("preview"):
        return await _preview(page, body)
    return await _done(page, ops.REFUND, body | _seen(page))


def _lines_back(page: PageRequest) -> dict[str, Any]:
    """How many of each line go back."""
    lines = {item: number(value) for item, value in named_by(page.form, "lines").items()}
    return {item: count for item, count in lines.items() if count}


async def _preview(page: PageRequest, body: Any) -> Shown:
    """The same form, with what it comes to."""
    told = await page.act(ops.PREVIEW_REFUND, page.path["order_id"], body=body | _seen(page))
    shown = await _order(page, "orders/refund.html")
    currency = (await frame_of(page)).currency
    lines = {f"lines.{one['itemId']}": exact(one["amount"], currency) for one in told.data["lines"]}
    preview = {"amount": exact(told.data["amount"], currency), "lines": lines}
    return msgspec.structs.replace(shown, facts={**shown.facts, "preview": preview})


async def cancel(page: PageRequest) -> Onward:
    """Cancel an order whose code was typed."""
    found = await page.ask(ops.ORDER, page.path["order_id"])
    if page.form.get("code", "").strip().upper() != found.data["shortCode"]:
        raise FormRefused(Invalid.field("code", "is not the code of this order"))
    body: dict[str, Any] = {"status": "cancelled"}
    if reason := page.form.get("cancellation_reason"):
        body["cancellation_reason"] = reason
    return await _done(page, ops.CHANGE, body | _seen(page))


def _seen(page: PageRequest) -> dict[str, str]:
    """The amount that was paid as the form showed it: another one refuses what it asks for."""
    seen = page.form.get("if_amount_paid")
    return {"if_amount_paid": seen} if seen else {}


async def confirm(page: PageRequest) -> Onward:
    """Confirm an order that was scheduled."""
    return await _done(page, ops.CONFIRM, {})


async def send_to_kitchen(page: PageRequest) -> Onward:
    """Let the kitchen have it."""
    return await _done(page, ops.SEND_TO_KITCHEN, None)


async def set_stage(page: PageRequest) -> Onward:
    """Move its ticket on, or back."""
    return await _done(page, ops.SET_STAGE, {"status": page.form.get("stage", "")})


async def receipt(page: PageRequest) -> Onward:
    """Open the receipt, which is made if there is none as the order stands."""
    made = await page.act(ops.RECEIPT, page.path["order_id"])
    url = urlsplit(made.data["url"])
    return Onward(f"{url.path}?{url.query}")


async def _order(page: PageRequest, template: str) -> Shown:
    frame = await frame_of(page)
    order_id = page.path["order_id"]
    order, told = await page.together(
        page.needed(ops.ORDER, order_id),
        page.read(ops.DELIVERIES, entity_id=order_id, limit=_DELIVERIES_SHOWN),
    )
    assert order is not None, "it is needed"  # noqa: S101
    deliveries = [delivery(one, frame) for one in await _deliveries(page, order.data, told)]
    facts = _facts(page, order.data, frame) | {"deliveries": deliveries}
    if page.refusal is not None:
        fields = {"lines": [f"lines.{item}" for item in _lines_back(page)]}
        facts["faults"] = faults_at(page.refusal, fields)
    return Shown(template, facts)


async def _deliveries(
    page: PageRequest, order: dict[str, Any], told: OperationAnswer | None
) -> list[dict[str, Any]]:
    """The webhooks of the order and those of its ticket, the newest first."""
    found = list(told.data) if told else []
    if ticket_id := order["kitchenTicketId"]:
        of_ticket = await page.read(ops.DELIVERIES, entity_id=ticket_id, limit=_DELIVERIES_SHOWN)
        found += of_ticket.data if of_ticket else []
    return sorted(found, key=lambda one: one["updatedAt"], reverse=True)[:_DELIVERIES_SHOWN]


def _facts(page: PageRequest, order: dict[str, Any], frame: Frame) -> dict[str, Any]:
    # Two forms of one browser about the same state of an order are one payment.
    state = f"{order['id']} {len(order['payments'])} {order['remainingAmount']}"
    return {
        "order": shown(order, frame),
        "payment_key": uuid5(page.member.session_id, state),
        "preview": None,
        "methods": _METHODS,
        "may": {
            "change": page.may(ops.CHANGE),
            "pay": page.may(ops.PAY),
            "refund": page.may(ops.REFUND),
            "stage": page.may(ops.SET_STAGE),
            "receipt": page.may(ops.RECEIPT),
            "link": page.may(MAKE_LINK),
            "customer": page.may(LIST_CUSTOMERS),
        },
    }


async def _done(page: PageRequest, operation: Operation, body: Any) -> Onward:
    """Do it, and show the order."""
    order_id = page.path["order_id"]
    await page.act(operation, order_id, body=body, key=page.form.get("idempotency_key"))
    return Onward(f"{_LIST}/{order_id}")


_GETS: dict[str, Handler] = {"refund": show_refund, "cancel": show_cancel}
_POSTS: dict[str, tuple[Handler, Show]] = {
    "payments": (pay, show_order), "refunds": (refund, show_refund),
    "cancel": (cancel, show_cancel),
    "confirm": (confirm, show_order), "kitchen": (send_to_kitchen, show_order),
    "stage": (set_stage, show_order), "receipt": (receipt, show_order),
}  # fmt: skip
_ROWS, _PARTS = ("list", "figures"), ("head", "told", "pay", "state")
_LIVE_LIST = Live(
    (LIST_ORDERS,), {"order.": _ROWS, "payment.": _ROWS, "kitchen_ticket.": ("list",)}
)
_LIVE_ORDER = Live(
    (ops.ORDER,), {"order.": _PARTS, "payment.": _PARTS, "kitchen_ticket.": ("state",)}
)
ROUTES = (
    PageRoute("GET", _LIST, show_list, live=_LIVE_LIST),
    PageRoute("GET", _ONE, show_order, by_code=find_order, live=_LIVE_ORDER),
    *(PageRoute("GET", f"{_ONE}/{end}", handler) for end, handler in _GETS.items()),
    *(
        PageRoute("POST", f"{_ONE}/{end}", handler, shown)
        for end, (handler, shown) in _POSTS.items()
    ),
)
