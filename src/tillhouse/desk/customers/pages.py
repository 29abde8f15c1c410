"""Pages of customers: the list, one customer, and the form for both new and known ones."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.customers.operations import (
    CHANGE,
    CREDIT,
    CUSTOMER,
    DELETE,
    LIST_DEBTS,
    MAKE,
)
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import LIST_CUSTOMERS, RECORD, frame_of
from tillhouse.desk.frame.words import exact
from tillhouse.desk.orders.listing import LIST, rows
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown

_LIST = "/desk/customers"
_ONE = _LIST + "/{customer_id}"
_PER_PAGE = 25
_ORDERS_SHOWN = 8
# The customer of an empty form.
_NOBODY = dict.fromkeys(("id", "name", "phoneNumber", "whatsappNumber", "email", "notes"))
_FIELDS = ("name", "phone_number", "whatsapp_number", "email", "notes")


async def show_list(page: PageRequest) -> Shown:
    """Customers by name, or those that a search finds."""
    query = page.request.query
    found = await page.needed(
        LIST_CUSTOMERS, limit=_PER_PAGE, page=query.get("page"), search=query.get("search")
    )
    facts = {
        "customers": found.data,
        "pager": pager(_LIST, query, found.extra["meta"]),
        "may_make": page.may(MAKE),
    }
    return Shown("customers/list.html", facts)


async def show_customer(page: PageRequest) -> Shown:
    """One customer with the newest orders, debts and credit."""
    return await _customer(page, "customers/customer.html")


async def show_form(page: PageRequest) -> Shown:
    """The form of a customer who is known."""
    page.check(CHANGE)
    return await _customer(page, "customers/form.html")


async def show_new(page: PageRequest) -> Shown:
    """The form of a new customer."""
    page.check(MAKE)
    return Shown("customers/form.html", {"customer": _NOBODY})


async def make(page: PageRequest) -> Onward:
    """Keep a new customer."""
    body = {name: page.form[name] for name in _FIELDS if page.form.get(name)}
    made = await page.act(MAKE, body=body, key=page.form.get("idempotency_key"))
    return Onward(f"{_LIST}/{made.data['id']}")


async def change(page: PageRequest) -> Onward:
    """Change a customer; an emptied field is one that says nothing any more."""
    body = {name: page.form[name] or None for name in _FIELDS if name in page.form}
    customer_id = page.path["customer_id"]
    await page.act(CHANGE, customer_id, body=body)
    return Onward(f"{_LIST}/{customer_id}")


async def delete(page: PageRequest) -> Onward:
    """Delete a customer; orders keep the name."""
    await page.act(DELETE, page.path["customer_id"])
    return Onward(_LIST)


async def _customer(page: PageRequest, template: str) -> Shown:
    frame, customer_id = await frame_of(page), page.path["customer_id"]
    customer = await page.needed(CUSTOMER, customer_id)
    orders, debts, credit = await page.together(
        page.read(LIST, customer_id=customer_id, limit=_ORDERS_SHOWN),
        page.read(LIST_DEBTS, customer_id=customer_id, status="active"),
        page.read(CREDIT, customer_id),
    )

    def debt(one: Mapping[str, Any]) -> dict[str, str]:
        return {
            "order": one["orderId"],
            "code": one["orderShortCode"],
            "amount": exact(one["balance"], one["currency"]),
            "since": frame.when(one["openedAt"]),
        }

    facts: dict[str, Any] = {
        "customer": customer.data,
        "orders": rows(orders.data, frame) if orders else None,
        "summary": orders.extra["summary"] if orders else None,
        "debts": [debt(one) for one in debts.data] if debts else None,
        "owed": sum(one["balance"] for one in debts.data) if debts else None,
        "credit": credit.data["available"] if credit else None,
        "may_change": page.may(CHANGE),
        "may_sell": page.may(RECORD),
    }
    return Shown(template, facts)


ROUTES = (
    PageRoute("GET", _LIST, show_list),
    PageRoute("GET", f"{_LIST}/new", show_new, goal=Goal("customers.new", (MAKE,), "action")),
    PageRoute("POST", f"{_LIST}/new", make, refused=show_new),
    PageRoute("GET", _ONE, show_customer),
    PageRoute("GET", f"{_ONE}/edit", show_form),
    PageRoute("POST", f"{_ONE}/edit", change, refused=show_form),
    PageRoute("POST", f"{_ONE}/delete", delete, refused=show_customer),
)
