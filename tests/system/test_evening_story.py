"""A restaurant's evening over HTTP: the menu, a table, the kitchen, the bill and the takings.

`pytest -s` prints the transcript: a line per request and answer.
"""

import io
from datetime import date
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import aiohttp
import msgspec
from pypdf import PdfReader

from tests.make import PASSWORD
from tests.system.client import Client
from tests.system.conftest import Start
from tests.system.transcript import Till, chapter, tell
from tests.webhooks.shop import until
from tillhouse.kit.clock import now

Json = dict[str, Any]
SCOPES = (
    "orders:read", "orders:write", "products:read", "products:write", "inventory:write",
    "customers:write", "tables:read", "tables:write", "finance:read", "messaging:read",
)  # fmt: skip
NEW_ORDER_KEY = "3f0c5a52-7d0e-4b1c-9f43-0d5b1f2a7e07"
ZONE = "Africa/Lagos"
PHONE = "+2348030000001"
# 2 × (2,500 + 300) + (2,500 + 300 + 200) + 3 × 800, with 7.5 % tax on the drinks and the service.
FOOD, DRINKS, TAX, SERVICE = 8600, 2400, 180, 550
TOTAL = FOOD + DRINKS + TAX + SERVICE
PART = 5000
# 1 × 800 with its tax, and 140 back; then 4 × (2,500 + 200), which nobody fetched.
AWAY, UNFETCHED = 860, 10800
MM = 72 / 25.4


class Menu(msgspec.Struct):
    """The menu."""

    rice: Json
    zobo: Json
    sides: Json

    def rices(self, quantity: int, *sides: int) -> Json:
        """A line of rice with these sides."""
        options = [self.sides["options"][place] for place in sides]
        chosen = [{"modifier_option_id": one["id"], "name": one["name"]} for one in options]
        group = {"modifier_group_id": self.sides["id"]}
        return {**_line(self.rice, quantity), "modifiers": [{**group, **one} for one in chosen]}

    def zobos(self, quantity: int) -> Json:
        """A line of the drink."""
        return _line(self.zobo, quantity)


def _line(product: Json, quantity: int) -> Json:
    return {"product_name": product["name"], "product_id": product["id"], "quantity": quantity}


async def _open(anybody: Till) -> Till:
    """A restaurant, and a till with a key for what a till does."""
    chapter("1. A restaurant opens an account, and makes a key for its till")
    account = {"name": "Ada Owner", "email": "ada@example.com", "password": PASSWORD}
    place = {"business_name": "Mama Put", "business_type": "restaurant", "currency": "NGN"}
    place |= {"time_zone": ZONE, "country": "NG"}
    made = await anybody.ask(
        "POST", "/api/auth/register", {**account, **place}, "expiresIn", status=201
    )
    owner = anybody.as_bearer(made.data["accessToken"])
    await owner.ask("POST", "/api/auth/verify-password", {"password": PASSWORD})
    new = {"name": "Till", "environment": "test", "scopes": [*SCOPES]}
    shown = ("secret", "environment", "status")
    key = (await owner.ask("POST", "/api/developer/api-keys", new, *shown, status=201)).data
    assert key["secret"].startswith("thsk_test_")
    return anybody.as_bearer(key["secret"])


async def _make(till: Till, path: str, body: Json, *shown: str, name: str | None = None) -> Json:
    made = (await till.ask("POST", path, body, *shown, status=201)).data
    till.named(name or made["name"], made)
    return made


async def _menu(till: Till) -> Menu:
    """Two categories, sides to choose from, a dish and a drink that are counted."""
    chapter("2. The menu, and what of it there is")
    food = await _make(till, "/v1/categories", {"name": "Mains"}, "name")
    drinks = await _make(till, "/v1/categories", {"name": "Drinks"}, "name")
    options = [{"name": "Plantain", "price_delta": 300}, {"name": "Salad", "price_delta": 200}]
    sides = await _make(
        till,
        "/v1/modifier-groups",
        {"name": "Sides", "min_choices": 1, "max_choices": 2, "options": options},
        "name", "minChoices", "maxChoices",
    )  # fmt: skip
    for option in sides["options"]:
        till.named(option["name"], option)
    rice: Json = {"name": "Jollof rice", "base_price": 2500, "category_id": food["id"]}
    rice |= {"tracks_stock": True, "modifier_group_ids": [sides["id"]]}
    zobo: Json = {"name": "Zobo", "base_price": 800, "category_id": drinks["id"]}
    zobo |= {"tracks_stock": True, "tax_rate": 7.5, "low_stock_threshold": 20}
    made = [await _make(till, "/v1/products", one, "type", "basePrice") for one in (rice, zobo)]
    for product, count in zip(made, (40, 24), strict=True):
        variant = till.named(f"{product['name']}'s variant", product["variants"][0])
        opening = {"variant_id": variant, "kind": "opening", "quantity": count}
        shown = ("productName", "onHand")
        await till.ask("POST", "/v1/inventory/adjustments", opening, *shown, status=201)
    menu = Menu(*made, sides)
    assert await _stock(till, menu) == {"Jollof rice": (40, False), "Zobo": (24, False)}
    return menu


async def _stock(till: Till, menu: Menu) -> dict[str, tuple[float, bool]]:
    shown = ("productName", "onHand", "isLow")
    levels = (await till.ask("GET", "/v1/inventory", None, *shown)).data
    assert {level["productId"] for level in levels} == {menu.rice["id"], menu.zobo["id"]}
    return {level["productName"]: (level["onHand"], level["isLow"]) for level in levels}


async def _seat(till: Till) -> tuple[Json, Json]:
    """A guest who is known, at a table."""
    chapter("3. A guest is seated, and customers are to hear when their order is ready")
    table = await _make(till, "/v1/tables", {"label": "7", "seats": 4}, "label", name="table 7")
    body = {"table_id": table["id"], "covers": 3}
    path, shown = "/v1/table-sessions", ("tableLabel", "status", "covers")
    seated = await _make(till, path, body, *shown, name="table 7's session")
    refused = await till.ask("POST", path, body, status=409)
    assert seated["id"] in refused.json["message"]
    guest = await _make(
        till, "/v1/customers", {"name": "Chidi Eze", "phone_number": PHONE}, "name", "phoneNumber"
    )
    text = "Dear {customer}, order {code} for table {table} is ready."
    messages = {"messages": [{"stage": "ready", "is_sent": True, "text": text}]}
    set_ = await till.ask("PUT", "/v1/kitchen/stage-messages", messages, "stage", "isSent")
    assert [one["stage"] for one in set_.data if one["isSent"]] == ["ready"]
    return seated, guest


async def _order(till: Till, menu: Menu, seated: Json, guest: Json) -> Json:
    """The order of table 7; sent twice, it is one order."""
    chapter("4. Table 7 orders; the request is sent twice, as after a lost answer")
    body = {
        "items": [menu.rices(2, 0), menu.rices(1, 0, 1), menu.zobos(3)],
        "table_session_id": seated["id"],
        "customer_id": guest["id"],
        "service_mode": "dine_in",
        "service_charge_amount": SERVICE,
    }
    shown = (
        "status", "summary", "subtotalAmount", "serviceChargeAmount", "taxAmount",
        "totalAmount", "paymentStatus", "kitchenTicketStatus", "tableLabel",
    )  # fmt: skip
    first = await till.ask("POST", "/v1/orders", body, *shown, status=201, key=NEW_ORDER_KEY)
    order = first.data
    till.named("the order", order)
    assert (order["status"], order["paymentStatus"]) == ("pending", "pending")
    assert order["subtotalAmount"] == FOOD + DRINKS
    assert (order["serviceChargeAmount"], order["taxAmount"]) == (SERVICE, TAX)
    assert order["totalAmount"] == order["remainingAmount"] == TOTAL
    assert [item["unitPrice"] for item in order["items"]] == [2800, 3000, 800]
    assert (order["tableLabel"], order["kitchenTicketStatus"]) == ("7", "queued")
    again = await till.ask("POST", "/v1/orders", body, "id", key=NEW_ORDER_KEY)
    assert (again.headers["idempotent-replayed"], again.data) == ("true", order)
    assert await _stock(till, menu) == {"Jollof rice": (37, False), "Zobo": (21, False)}
    return order


async def _cook(till: Till, order: Json) -> None:
    """The ticket from stage to stage, with one message to the guest."""
    chapter("5. The kitchen cooks, and the guest hears of it once")
    shown = ("shortCode", "status", "tableLabel", "items")
    [ticket] = (await till.ask("GET", "/v1/kitchen/tickets", None, *shown)).data
    assert (ticket["orderId"], ticket["tableLabel"]) == (order["id"], "7")
    assert [item["quantity"] for item in ticket["items"]] == [2, 1, 3]
    assert [item["modifiers"] for item in ticket["items"]] == [
        ["Plantain"],
        ["Plantain", "Salad"],
        [],
    ]
    heard: list[tuple[str, str | None]] = []
    for stage in ("preparing", "ready", "ready", "served"):
        path = f"/v1/orders/{order['id']}/kitchen-status"
        shown = ("kitchenTicketStatus", "meta.notification")
        answer = await till.ask("POST", path, {"status": stage}, *shown)
        assert answer.data["kitchenTicketStatus"] == stage
        notification = answer.json["meta"]["notification"]
        heard.append((notification["status"], notification.get("reason")))
    assert heard == [
        ("skipped", "auto_send_disabled"), ("sent", None), ("skipped", "status_unchanged"),
        ("skipped", "auto_send_disabled"),
    ]  # fmt: skip
    assert (await till.ask("GET", "/v1/kitchen/tickets")).data == []
    await _hear(till, order)


async def _hear(till: Till, order: Json) -> None:
    """The messages in the guest's conversation."""
    shown = ("customerPhone", "customer.name")
    [talk] = (await till.ask("GET", "/v1/conversations", None, *shown)).data
    assert (talk["customerPhone"], talk["customer"]["id"]) == (PHONE, order["customer"]["id"])
    path = f"/v1/conversations/{talk['id']}/messages"
    till.named("Chidi Eze's conversation", talk)

    async def arrived() -> bool | None:
        [message] = (await till.client.get(path, status=200)).data
        return message["deliveryStatus"] == "delivered" or None

    await until(arrived)
    [message] = (await till.ask("GET", path, None, "direction", "text", "deliveryStatus")).data
    code = order["shortCode"]
    assert message["text"] == f"Dear Chidi Eze, order {code} for table 7 is ready."
    assert message["direction"] == "outbound"


async def _pay(till: Till, order: Json, seated: Json) -> None:
    """A part in cash, the rest by card; meanwhile it is a debt and the table isn't free."""
    chapter("6. The bill: a part in cash, the rest by card")
    path, debts = f"/v1/orders/{order['id']}", f"/v1/debts?order_id={order['id']}"
    shown = ("status", "paymentStatus", "amountPaid", "remainingAmount", "paymentMethod")
    part = (await till.ask("PATCH", path, {"amount_paid": PART}, *shown)).data
    assert (part["status"], part["paymentStatus"]) == ("pending", "partial")
    assert part["remainingAmount"] == TOTAL - PART
    [debt] = (await till.ask("GET", debts, None, "customer.name", "status", "balance")).data
    assert (debt["status"], debt["balance"]) == ("active", TOTAL - PART)
    await till.ask("POST", f"/v1/table-sessions/{seated['id']}/close", {}, status=400)
    rest = {"amount_paid": TOTAL, "payment_method": "pos"}
    full = (await till.ask("PATCH", path, rest, *shown)).data
    assert (full["status"], full["paymentStatus"]) == ("completed", "paid")
    assert (full["amountPaid"], full["remainingAmount"]) == (TOTAL, 0)
    [debt] = (await till.ask("GET", debts, None, "customer.name", "status", "balance")).data
    assert (debt["status"], debt["balance"]) == ("paid", 0)


async def _receipt(till: Till, order: Json) -> None:
    """The receipt at its address: a page and files, on two papers, all with the total."""
    chapter("7. The receipt, for whoever has its address")
    path = f"/v1/orders/{order['id']}/receipt"
    url: str = (await till.ask("POST", path, None, "url")).data["url"]
    total = f"{TOTAL:,}.00"
    for more in ("", "&paper=80mm"):
        page = (await till.open(url + more)).body.decode()
        holds = ("Mama Put", order["shortCode"], "Jollof rice", "Plantain", "Chidi Eze", total)
        assert [word for word in holds if word not in page] == []
        tell("page", f"holds {', '.join(holds)}")
    # The strip is as long as its text.
    for more, width, heights in (("", 210, (297, 297)), ("&paper=80mm", 80, (80, 200))):
        file = (await till.open(url.replace("?", ".pdf?", 1) + more)).body
        assert file.startswith(b"%PDF-")
        [page] = PdfReader(io.BytesIO(file), strict=True).pages
        size = [round(float(length) / MM) for length in (page.mediabox.width, page.mediabox.height)]
        assert size[0] == width
        assert heights[0] <= size[1] <= heights[1]
        assert total in page.extract_text()
        tell("file", f"one page of {size[0]} × {size[1]} mm, holds {total}")


async def _others(till: Till, menu: Menu) -> None:
    """A sale over the counter with change, and one that nobody fetches."""
    chapter("8. Two more: one over the counter with change, one that nobody fetches")
    away = {"service_mode": "takeaway"}
    shown = ("status", "summary", "totalAmount", "amountPaid", "remainingAmount")
    body = {"items": [menu.zobos(1)], **away, "amount_paid": 1000}
    sold = await _make(till, "/v1/orders", body, *shown, name="the second order")
    assert (sold["status"], sold["totalAmount"], sold["amountPaid"]) == ("completed", AWAY, 1000)
    assert await _stock(till, menu) == {"Jollof rice": (37, False), "Zobo": (20, True)}
    body = {"items": [menu.rices(4, 1)], **away}
    lost = await _make(till, "/v1/orders", body, *shown, name="the third order")
    assert (lost["status"], lost["totalAmount"]) == ("pending", UNFETCHED)
    assert (await _stock(till, menu))["Jollof rice"] == (33, False)
    ended = {"status": "cancelled", "cancellation_reason": "Not fetched"}
    shown = ("status", "cancellation.reason", "cancellation.restocked")
    gone = (await till.ask("PATCH", f"/v1/orders/{lost['id']}", ended, *shown)).data
    assert (gone["status"], gone["cancellation"]["restocked"]) == ("cancelled", True)


def _day() -> date:
    return now().astimezone(ZoneInfo(ZONE)).date()


async def _close(till: Till, menu: Menu, seated: Json, day: date) -> None:
    """The sales and the stock add up, and the table is free."""
    chapter("9. The end of the evening: what was sold, what is left, and the table is free")
    sold = {
        "todayOrders": 2, "todayRevenue": TOTAL + AWAY, "totalOrders": 3, "filteredOrders": 3,
        "totalRevenue": TOTAL + AWAY, "averageOrderValue": (TOTAL + AWAY) / 2,
        "pendingOrdersCount": 0, "pendingOutstandingAmount": 0, "completedOrdersCount": 2,
        "completedRevenue": TOTAL + AWAY, "cancelledOrdersCount": 1,
        "cancelledRevenue": UNFETCHED, "refundedAmount": 0, "netRevenue": TOTAL + AWAY,
    }  # fmt: skip
    received = {"cash": PART + AWAY, "pos": TOTAL - PART}
    figures = [f"summary.{name}" for name in sold]
    figures.append("summary.receivedByMethod")
    listed = await till.ask("GET", "/v1/orders", None, "summary", "status", *figures)
    summary = listed.json["summary"]
    methods = {one["method"]: one["amount"] for one in summary.pop("receivedByMethod")}
    assert {method: amount for method, amount in methods.items() if amount} == received
    if day != _day():
        # Midnight went by: what was of today is not any more.
        summary |= {name: sold[name] for name in ("todayOrders", "todayRevenue")}
    assert summary == sold
    completed = [order for order in listed.data if order["status"] == "completed"]
    assert sum(order["totalAmount"] for order in completed) == sold["totalRevenue"]
    assert await _stock(till, menu) == {"Jollof rice": (37, False), "Zobo": (20, True)}
    path, shown = f"/v1/table-sessions/{seated['id']}", ("status", "ordersCount", "totalAmount")
    closed = (await till.ask("POST", f"{path}/close", {}, *shown, "unpaidAmount")).data
    assert (closed["status"], closed["unpaidAmount"]) == ("closed", 0)
    assert (closed["ordersCount"], closed["totalAmount"]) == (1, TOTAL)
    [table] = (await till.ask("GET", "/v1/tables", None, "label", "openSession")).data
    assert table["openSession"] is None


async def test_an_evening_from_the_menu_to_the_takings(
    start: Start, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    """Seated, ordered, cooked, told, paid, receipted; the figures are what was sold."""
    serving = await start(DATA=str(tmp_path / "data"), LOG_LEVEL="warning")
    till = await _open(Till(Client(session, serving.address)))
    menu = await _menu(till)
    seated, guest = await _seat(till)
    day = _day()
    order = await _order(till, menu, seated, guest)
    await _cook(till, order)
    await _pay(till, order, seated)
    await _receipt(till, order)
    await _others(till, menu)
    await _close(till, menu, seated, day)
    assert await serving.stop() == 0, serving.log
