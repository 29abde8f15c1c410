"""Pages of payment links: the list, one link, and the form for a new one."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tillhouse.desk.fields import named_by
from tillhouse.desk.finance.operations import DEBT, LIST_TRANSACTIONS
from tillhouse.desk.frame.lists import pager, views
from tillhouse.desk.frame.places import LIST_CUSTOMERS, LIST_LINKS, frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import exact
from tillhouse.desk.links.links import VIEWS, paid, rows, shown
from tillhouse.desk.links.operations import CANCEL, LINK, MAKE, MAKE_FOR_WALLET
from tillhouse.desk.orders.listing import LIST
from tillhouse.desk.orders.listing import rows as order_rows
from tillhouse.desk.orders.operations import ORDER
from tillhouse.desk.page import Goal, Live, Onward, PageRequest, PageRoute, Shown

_LIST = "/desk/links"
_ONE = _LIST + "/{link_id}"
_PER_PAGE = 25
_ORDERS_SHOWN = 8
_PAYMENTS_SHOWN = 50
_CUSTOMERS_SHOWN = 100
_FILTERS = ("status", "search", "target_type", "target_id", "customer_id", "page")


async def show_list(page: PageRequest) -> Shown:
    """Links, the newest first, by the filters in the address."""
    frame, query = await frame_of(page), page.request.query
    wanted = {name: query[name] for name in _FILTERS if query.get(name)}
    found = await page.needed(LIST_LINKS, limit=_PER_PAGE, **wanted)
    facts = {
        "rows": rows(found.data, frame),
        "pager": pager(_LIST, query, found.extra["meta"]),
        "views": views(_LIST, VIEWS, query),
        "may_make": page.may(MAKE),
    }
    return Shown("links/list.html", facts)


async def show_link(page: PageRequest) -> Shown:
    """One link with what became of it."""
    link, frame = (await page.needed(LINK, page.path["link_id"])).data, await frame_of(page)
    told = None
    if link["paymentsCount"]:
        told = await page.read(LIST_TRANSACTIONS, payment_link_id=link["id"], limit=_PAYMENTS_SHOWN)
    facts = {
        "link": shown(link, frame),
        "paid": paid(told.data, frame) if told else [],
        "may_cancel": page.may(CANCEL),
    }
    return Shown("links/link.html", facts)


class _Known(msgspec.Struct, rename="camel"):
    """A customer, as the form offers it."""

    name: str
    email: str | None
    phone_number: str | None


_KNOWN = LIST_CUSTOMERS.reading(list[_Known])


async def show_new(page: PageRequest) -> Shown:
    """The form of a link: for the order or the debt in the address, else into the wallet."""
    page.check(MAKE)
    frame = await frame_of(page)
    target = await _target(page, page.request.query)
    orders = None
    if target is None:
        orders = await page.read(
            LIST, limit=_ORDERS_SHOWN, status="pending", payment_status="pending,partial"
        )
    listed = await page.read(_KNOWN, limit=_CUSTOMERS_SHOWN)
    known: list[_Known] = listed.data if listed else []
    facts: dict[str, Any] = {
        "known": {
            "emails": [(one.email, one.name) for one in known if one.email],
            "phones": [(one.phone_number, one.name) for one in known if one.phone_number],
        },
        "target": target,
        "orders": order_rows(orders.data, frame) if orders else [],
    }
    return Shown("links/new.html", facts)


async def make(page: PageRequest) -> Onward:
    """Make a link, or get the active one of an order or a debt."""
    form = page.form
    is_wallet = not form.get("target_id")
    names = ("title", "amount") if is_wallet else ("target_type", "target_id")
    body: dict[str, Any] = {name: form[name] for name in (*names, "redirect_url") if form.get(name)}
    if customer := named_by(form, "customer"):
        body["customer"] = customer
    operation = MAKE_FOR_WALLET if is_wallet else MAKE
    made = await page.act(operation, body=body, key=form.get("idempotency_key"))
    return Onward(f"{_LIST}/{made.data['id']}")


async def cancel(page: PageRequest) -> Onward:
    """Stop a link from asking for money."""
    link_id = page.path["link_id"]
    await page.act(CANCEL, link_id)
    return Onward(f"{_LIST}/{link_id}")


async def _target(page: PageRequest, query: Mapping[str, str]) -> dict[str, str] | None:
    """The order or the debt in the address, with the amount that it owes; None: the wallet."""
    if order_id := query.get("order_id"):
        order = (await page.needed(ORDER, order_id)).data
        code = order["shortCode"]
        return {
            "type": "sale",
            "id": order["id"],
            "title": sentence("new_link.order", code=code),
            "amount": exact(order["remainingAmount"], order["currency"]),
            "back": f"/desk/orders/{order_id}",
        }
    if debt_id := query.get("debt_id"):
        debt = (await page.needed(DEBT, debt_id)).data
        return {
            "type": "debt",
            "id": debt["id"],
            "title": sentence("new_link.debt", name=debt["customer"]["name"]),
            "amount": exact(debt["balance"], debt["currency"]),
            "back": f"/desk/finance/debts/{debt_id}",
        }
    return None


_LIVE_LIST = Live((LIST_LINKS,), {"payment.": ("list",), "order.": ("list",)})
_LIVE_LINK = Live((LINK,), {"payment.": ("head", "told", "state")})
ROUTES = (
    PageRoute("GET", _LIST, show_list, live=_LIVE_LIST),
    PageRoute("GET", f"{_LIST}/new", show_new, goal=Goal("new_link.title", (MAKE,), "action")),
    PageRoute("POST", f"{_LIST}/new", make, refused=show_new),
    PageRoute("GET", _ONE, show_link, live=_LIVE_LINK),
    PageRoute("POST", f"{_ONE}/cancel", cancel, refused=show_link),
)
