"""Every operation that the pages are for has its place, and every form is on a page."""

import importlib
import pkgutil
import re
from collections import Counter

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.test_connections import connect
from tests.desk.world import fill_all
from tests.factor import FACTOR, turn_on
from tests.make import PASSWORD, Business, Make
from tillhouse import desk
from tillhouse.app import ROUTES
from tillhouse.desk.operations import Operation
from tillhouse.desk.pages import PAGES

# The operations of each area, and how they are called: reads by opening its pages.
PLACES = {
    "account": """
        GET /api/auth/me, GET /api/auth/sessions, DELETE /api/auth/sessions/{},
        POST /api/auth/register, POST /api/auth/login, POST /api/auth/logout,
        POST /api/auth/verify-password, POST /api/auth/change-password,
        POST /api/auth/sessions/end-others, POST /api/auth/forgot-password,
        POST /api/auth/reset-password, POST /api/auth/reset-password/preview,
        POST /api/auth/switch, POST /api/auth/accept-invitation,
        POST /api/auth/accept-invitation/preview, GET /api/auth/second-factor,
        POST /api/auth/second-factor, DELETE /api/auth/second-factor,
        POST /api/auth/second-factor/confirm, POST /api/auth/second-factor/recovery-codes""",
    "overview": "GET /v1/finance/summary, GET /v1/counts, GET /v1/search",
    "sell": """
        POST /v1/orders, POST /v1/orders/preview, GET /v1/products, GET /v1/categories,
        GET /v1/promotions, GET /v1/tags, GET /v1/academic-terms, GET /v1/hotel/rooms""",
    "orders": """
        GET /v1/orders, GET /v1/orders/{}, PATCH /v1/orders/{}, DELETE /v1/orders/{},
        POST /v1/orders/{}/confirm, POST /v1/orders/{}/send-to-kitchen,
        POST /v1/orders/{}/kitchen-status, POST /v1/orders/{}/requery,
        POST /v1/orders/{}/receipt, POST /v1/orders/{}/payments, POST /v1/orders/{}/refunds,
        POST /v1/orders/{}/refunds/preview,
        GET /api/developer/webhook-deliveries""",
    "links": """
        GET /v1/payment-links, POST /v1/payment-links, POST /v1/payment-links/wallet/dynamic,
        GET /v1/payment-links/{}, DELETE /v1/payment-links/{}""",
    "finance": """
        GET /v1/finance/summary, GET /v1/finance/transactions, GET /v1/finance/transactions/{},
        POST /v1/finance/transactions/{}/requery, POST /v1/finance/transactions/{}/receipt,
        GET /v1/finance/expenses, POST /v1/finance/expenses, GET /v1/finance/expenses/{},
        DELETE /v1/finance/expenses/{}, GET /v1/debts, GET /v1/debts/{}, GET /v1/disputes,
        GET /v1/disputes/{}""",
    "wallet": """
        GET /v1/wallet, GET /v1/wallet/statement, GET /v1/wallet/payouts, PUT /v1/wallet/payouts,
        GET /v1/wallet/withdrawals, POST /v1/wallet/withdrawals, GET /v1/wallet/withdrawals/{},
        POST /v1/wallet/withdrawals/{}/cancel, GET /v1/payout-accounts, POST /v1/payout-accounts,
        GET /v1/payout-accounts/banks, GET /v1/payout-accounts/{}, DELETE /v1/payout-accounts/{}""",
    "customers": """
        GET /v1/customers, POST /v1/customers, GET /v1/customers/{}, PATCH /v1/customers/{},
        DELETE /v1/customers/{}, GET /v1/customers/{}/credit""",
    "products": """
        POST /v1/products, GET /v1/products/{}, PATCH /v1/products/{}, DELETE /v1/products/{},
        POST /v1/products/{}/variants, PATCH /v1/variants/{}, DELETE /v1/variants/{},
        POST /v1/categories, GET /v1/categories/{}, PATCH /v1/categories/{},
        DELETE /v1/categories/{}, GET /v1/modifier-groups, POST /v1/modifier-groups,
        GET /v1/modifier-groups/{}, PATCH /v1/modifier-groups/{}, DELETE /v1/modifier-groups/{},
        GET /v1/inventory, GET /v1/inventory/moves, POST /v1/inventory/adjustments,
        POST /v1/inventory/counts, POST /v1/inventory/transfers, POST /v1/promotions,
        GET /v1/promotions/{}, PATCH /v1/promotions/{}, DELETE /v1/promotions/{}""",
    "connections": """
        GET /v1/payment-providers, PUT /v1/payment-providers, GET /v1/messaging/numbers,
        POST /v1/messaging/numbers, DELETE /v1/messaging/numbers/{},
        POST /v1/messaging/sandbox/inbound, GET /v1/voice/numbers, POST /v1/voice/numbers,
        GET /v1/voice/numbers/{}, PATCH /v1/voice/numbers/{}, DELETE /v1/voice/numbers/{},
        GET /v1/voice/agents, POST /v1/voice/calls, GET /v1/voice/calls/{}""",
    "keys": """
        GET /api/developer/scopes, GET /api/developer/apps, POST /api/developer/apps,
        GET /api/developer/api-keys, POST /api/developer/api-keys,
        GET /api/developer/api-keys/{}, PATCH /api/developer/api-keys/{},
        DELETE /api/developer/api-keys/{}, POST /api/developer/api-keys/{}/rotate,
        POST /api/developer/api-keys/{}/view-secret, POST /api/developer/api-keys/{}/revoke""",
    "people": """
        GET /v1/members, POST /v1/members, GET /v1/members/{}, PATCH /v1/members/{},
        DELETE /v1/members/{}, POST /v1/members/{}/end-sessions, GET /v1/business/second-factor,
        PUT /v1/business/second-factor""",
    "settings": """
        GET /v1/business, PATCH /v1/business, GET /v1/stores, POST /v1/stores, GET /v1/stores/{},
        PATCH /v1/stores/{}, DELETE /v1/stores/{}, GET /v1/tables, POST /v1/tables,
        GET /v1/tables/{}, PATCH /v1/tables/{}, DELETE /v1/tables/{}, POST /v1/tags,
        GET /v1/tags/{}, PATCH /v1/tags/{}, DELETE /v1/tags/{}, POST /v1/academic-terms,
        GET /v1/academic-terms/{}, PATCH /v1/academic-terms/{}, DELETE /v1/academic-terms/{},
        GET /v1/kitchen/stage-messages, PUT /v1/kitchen/stage-messages""",
    "webhooks": """
        GET /api/developer/webhook-events, GET /api/developer/webhook-endpoints,
        POST /api/developer/webhook-endpoints, GET /api/developer/webhook-endpoints/{},
        PATCH /api/developer/webhook-endpoints/{}, DELETE /api/developer/webhook-endpoints/{},
        POST /api/developer/webhook-endpoints/{}/disable,
        POST /api/developer/webhook-endpoints/{}/enable,
        POST /api/developer/webhook-endpoints/{}/test,
        POST /api/developer/webhook-endpoints/{}/recover, GET /api/developer/webhook-settings,
        POST /api/developer/webhook-settings/{}/rotate-secret,
        POST /api/developer/webhook-settings/{}/view-secret,
        GET /api/developer/webhook-deliveries, GET /api/developer/webhook-deliveries/{},
        POST /api/developer/webhook-deliveries/{}/resend, GET /v1/events/stream,
        GET /v1/events/{}""",
    "logs": "GET /api/developer/events, GET /api/developer/usage",
    "commands": "GET /api/developer/api-keys, POST /api/developer/api-keys/{}/view-secret",
}  # fmt: skip
# Operations whose pages come next, by the area that they are for.
NEXT = {
    "tables": """
        GET /v1/table-sessions, POST /v1/table-sessions, GET /v1/table-sessions/{},
        PATCH /v1/table-sessions/{}, POST /v1/table-sessions/{}/close""",
    "kitchen": "GET /v1/kitchen/tickets, GET /v1/kitchen/tickets/{}",
    "stays": """
        GET /v1/hotel/reservations, POST /v1/hotel/reservations, GET /v1/hotel/reservations/{},
        PATCH /v1/hotel/reservations/{}, POST /v1/hotel/reservations/{}/move,
        POST /v1/hotel/reservations/{}/check-in, POST /v1/hotel/reservations/{}/cancel,
        POST /v1/hotel/reservations/{}/no-show, POST /v1/hotel/reservations/{}/reinstate,
        POST /v1/hotel/reservations/{}/undo-check-in, GET /v1/hotel/reservations/{}/folio,
        POST /v1/hotel/reservations/{}/payments, POST /v1/hotel/reservations/{}/refunds,
        POST /v1/hotel/reservations/{}/bill, POST /v1/hotel/reservations/{}/check-out,
        POST /v1/hotel/reservation-groups, GET /v1/hotel/availability, GET /v1/hotel/quotes,
        GET /v1/hotel/guests, POST /v1/hotel/guests, GET /v1/hotel/guests/{},
        PATCH /v1/hotel/guests/{}, DELETE /v1/hotel/guests/{}, GET /v1/hotel/audits,
        POST /v1/hotel/audits""",
    "requests": """
        GET /v1/hotel/service-requests, POST /v1/hotel/service-requests,
        GET /v1/hotel/service-requests/{}, PATCH /v1/hotel/service-requests/{},
        POST /v1/hotel/rooms/{}/status""",
    "settings of the hotel": """
        GET /v1/hotel/settings, PATCH /v1/hotel/settings, GET /v1/hotel/rooms/{},
        POST /v1/hotel/rooms, PATCH /v1/hotel/rooms/{}, DELETE /v1/hotel/rooms/{},
        GET /v1/hotel/room-types, POST /v1/hotel/room-types, GET /v1/hotel/room-types/{},
        PATCH /v1/hotel/room-types/{}, DELETE /v1/hotel/room-types/{}, GET /v1/hotel/rate-plans,
        POST /v1/hotel/rate-plans, GET /v1/hotel/rate-plans/{}, PATCH /v1/hotel/rate-plans/{},
        DELETE /v1/hotel/rate-plans/{}""",
    "inbox": """
        GET /v1/conversations, POST /v1/conversations, GET /v1/conversations/{},
        PATCH /v1/conversations/{}, POST /v1/conversations/{}/read,
        GET /v1/conversations/{}/notes, POST /v1/conversations/{}/notes,
        GET /v1/conversations/{}/messages, POST /v1/conversations/{}/messages, GET /v1/messages,
        POST /v1/messaging/attachments, GET /v1/messaging/attachments/{},
        GET /v1/messaging/presence, PUT /v1/messaging/presence, GET /v1/messaging/inbox,
        PATCH /v1/messaging/inbox, GET /v1/messaging/quick-replies,
        POST /v1/messaging/quick-replies, GET /v1/messaging/quick-replies/{},
        PATCH /v1/messaging/quick-replies/{}, DELETE /v1/messaging/quick-replies/{}""",
    "calls": """
        GET /v1/voice/calls,
        POST /v1/voice/calls/{}/cancel, POST /v1/voice/calls/{}/hangup,
        GET /v1/voice/calls/{}/recording, GET /v1/voice/calls/{}/transcript,
        GET /v1/voice/suppressions, POST /v1/voice/suppressions, GET /v1/voice/suppressions/{},
        DELETE /v1/voice/suppressions/{}, GET /v1/voice/settings, PATCH /v1/voice/settings""",
    "agents": """
        POST /v1/voice/agents, GET /v1/voice/agents/{}, PATCH /v1/voice/agents/{},
        DELETE /v1/voice/agents/{}, POST /v1/voice/agents/{}/duplicate,
        GET /v1/voice/agents/{}/prompts, PUT /v1/voice/agents/{}/prompts""",
    "ledger": """
        GET /v1/ledger/accounts, GET /v1/ledger/entries, GET /v1/ledger/closing,
        PUT /v1/ledger/closing""",
}  # fmt: skip
# Operations that no page calls, and why.
WITHOUT_A_PAGE = {
    "POST /api/auth/refresh": "the cookie of the desk has no second token",
    "GET /v1/voice/health": "it answers about a key; the page of a new key shows it as a command",
    "GET /v1/orders/{}/payments": "the order that its page reads tells them",
    "GET /v1/orders/{}/refunds": "the order that its page reads tells them",
    "GET /v1/staff": "people are listed as members, which tells more",
    "GET /v1/staff/{}": "people are read as members, which tells more",
}


def operations_in(*texts: str) -> list[tuple[str, str]]:
    """The operations that some texts name, commas between them."""
    names = [name for text in texts for name in re.split(r",\s+", text.strip())]
    return [(method, path) for method, _, path in (name.partition(" ") for name in names)]


MAP = set(operations_in(*PLACES.values()))
# Reads that a page makes after a choice or for its frame, which the list of its calls leaves out.
UNTOLD = {("GET", path) for path in ("/v1/hotel/rooms", "/v1/search", "/v1/voice/calls/{}")}
# Pages of one kind that are opened: their states differ.
PER_ROUTE = 4
CALL = re.compile(r"\$BASE(/[^?\" ]+)")
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# Pages for people who aren't signed in, and what a form of the sale leads to.
AT_THE_DOOR = {
    "/", "/desk/sign-in", "/desk/register", "/desk/join/{token}", "/desk/open/{secret}",
    "/desk/forgot", "/desk/reset/{token}",
}  # fmt: skip
BY_A_FORM = {"/desk/sell/choose/{product_id}"}
FROM_THE_DOOR = {
    "/desk/sign-in", "/desk/register", "/desk/join/{token}", "/desk/open/{secret}",
    "/desk/forgot", "/desk/reset/{token}", "/desk/sell/choose/{product_id}",
}  # fmt: skip


async def states(business: Business) -> None:
    """Orders and an endpoint in states that have forms of their own, and goods for a bundle."""
    await business.made("/v1/products", {"name": "Zobo", "base_price": 5})
    line = {"product_name": "Jollof rice", "quantity": 1, "custom_price": 20}
    for fields in ({"scheduled_for": "2099-01-31T18:30:00Z"}, {"send_to_kitchen": True},
                   {"send_to_kitchen": False}):  # fmt: skip
        await business.made("/v1/orders", {"items": [line], **fields})
    endpoint = await business.endpoint(name="Old server")
    path = f"/api/developer/webhook-endpoints/{endpoint['id']}/disable"
    await business.owner.post(path, status=200)


def called() -> set[tuple[str, str]]:
    """The operations that modules of the desk hold."""
    found: set[tuple[str, str]] = set()
    for module in pkgutil.walk_packages(desk.__path__, "tillhouse.desk."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Operation):
                path = re.sub(r"\{\w+\}", "{}", value.route.path)
                found.add((value.route.method, path))
    return found


def test_every_operation_has_its_place() -> None:
    """Each of the map is called by some page."""
    assert MAP - called() == set()


def test_every_operation_of_the_product_is_somewhere() -> None:
    """A page calls it, its page comes next, or a reason says why it has none: one of these."""
    product = {(route.method, re.sub(r"\{\w+\}", "{}", route.path)) for route in ROUTES}
    later, none = operations_in(*NEXT.values()), operations_in(*WITHOUT_A_PAGE)
    assert Counter(product) == Counter([*MAP, *later, *none])
    assert called() & {*later, *none} == set()


def route_of(address: str, routes: dict[str, re.Pattern[str]]) -> str | None:
    """The route that an address belongs to; one without a value in it goes first."""
    path = address.partition("?")[0]
    fit = [route for route, pattern in routes.items() if pattern.fullmatch(path)]
    return min(fit, key=lambda route: route.count("{"), default=None)


def patterns(method: str) -> dict[str, re.Pattern[str]]:
    """The routes of the desk with this method."""
    paths = [page.path for page in PAGES if page.method == method]
    return {path: re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))) for path in paths}


class Walk:
    """A way from the first page on, by links alone: what it came across."""

    def __init__(self) -> None:
        self.pages: set[str] = set()
        self.forms: set[str] = set()
        self.reads: set[tuple[str, str]] = set()

    async def go(self, browser: Browser) -> None:
        """Open every page that a link leads to, some of each kind."""
        gets, posts = patterns("GET"), patterns("POST")
        waiting, opened = ["/desk"], Counter[str]()
        while waiting:
            address = waiting.pop(0)
            route = route_of(address, gets)
            if route is None or opened[route] >= PER_ROUTE:
                continue
            opened[route] += 1
            page = await browser.open(address)
            sent = [form.action for form in page.forms]
            pressed = [found.get("formaction") or "-" for _, found in page.elements]
            sent += [one.partition("#")[0] for one in pressed]
            self.forms |= {found for one in sent if (found := route_of(one, posts))}
            self.reads |= {("GET", re.sub(UUID, "{}", one)) for one in CALL.findall(page.words)}
            waiting += [link for link in page.links if link.startswith("/desk")]
        self.pages |= set(opened)


async def test_every_page_and_every_form_is_led_to(make: Make, signed_in: SignsIn) -> None:
    """By links alone, in both books: nothing has to be known by its address."""
    business = await make.business(business_type="restaurant")
    await fill_all(business)
    await states(business)
    trunk = {"provider": "sip", "settings": {"host": "sip.example.com"}}
    number = {"phone_number": "+15550110009", "label": "Front desk", **trunk}
    await business.made("/v1/voice/numbers", number, "live")
    # An owner of two businesses, who froze the payouts and connected a provider.
    person = await make.member(business, "owner")
    browser = await signed_in(person)
    await browser.open("/desk/wallet")
    await browser.submit("/desk/wallet/freeze", reason="Lost telephone")
    walk = Walk()
    await person.owner.post(FACTOR, status=201)
    await walk.go(browser)
    factor = await turn_on(person)
    await browser.sign_in_by_code(person.email, PASSWORD, factor.next)
    await browser.open("/desk/account")
    await browser.submit("/desk/business", business_id=business.id)
    await browser.open("/desk")
    await browser.submit("/desk/mode", mode="live")
    await connect(browser)
    await walk.go(browser)
    assert set(patterns("GET")) - walk.pages == AT_THE_DOOR | BY_A_FORM
    assert set(patterns("POST")) - walk.forms == FROM_THE_DOOR
    reads = {one for one in MAP if one[0] == "GET"}
    assert reads - walk.reads == UNTOLD
