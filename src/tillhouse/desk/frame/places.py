"""Places of a person: businesses, stores and books, and the navigation that the role opens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from tillhouse.access.callers import OwnBusiness
from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.checkout.room import ROOM as CHECKOUT
from tillhouse.customers.room import ROOM as CUSTOMERS
from tillhouse.desk.frame.words import day, when, when_exactly, zone
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import PageRequest
from tillhouse.developer.room import ROOM as DEVELOPER
from tillhouse.finance.room import ROOM as FINANCE
from tillhouse.orders.room import ROOM as ORDERS
from tillhouse.payins.room import ROOM as PAYINS
from tillhouse.payouts.room import ROOM as PAYOUTS
from tillhouse.products.room import ROOM as PRODUCTS
from tillhouse.stores.room import ROOM as STORES
from tillhouse.webhooks.room import ROOM as WEBHOOKS

LIST_STORES = Operation(STORES, "GET", "/v1/stores")
LIST_ORDERS = Operation(ORDERS, "GET", "/v1/orders")
SUMMARY = Operation(FINANCE, "GET", "/v1/finance/summary")
_STORES_SHOWN = 100


class Entry(msgspec.Struct, frozen=True):
    """An entry of the navigation."""

    # Its sentence in the catalogue, and its icon.
    name: str
    icon: str
    address: str
    # One of them allowed makes the entry appear.
    operations: Sequence[Operation]
    # The letter that leads there after a "g".
    letter: str
    # The heading that it begins, in the catalogue.
    head: str | None = None
    # Addresses of further pages that belong to it.
    others: Sequence[str] = ()


LIST_CUSTOMERS = Operation(CUSTOMERS, "GET", "/v1/customers")
LIST_PRODUCTS = Operation(PRODUCTS, "GET", "/v1/products")
RECORD = Operation(ORDERS, "POST", "/v1/orders")
WALLET = Operation(PAYOUTS, "GET", "/v1/wallet")
LIST_PROVIDERS = Operation(PAYINS, "GET", "/v1/payment-providers")
LIST_LINKS = Operation(CHECKOUT, "GET", "/v1/payment-links")
LIST_KEYS = Operation(DEVELOPER, "GET", "/api/developer/api-keys")
LIST_MEMBERS = Operation(ACCOUNTS, "GET", "/v1/members")
AUDIT = Operation(DEVELOPER, "GET", "/api/developer/events")
LIST_ENDPOINTS = Operation(WEBHOOKS, "GET", "/api/developer/webhook-endpoints")

ENTRIES = (
    Entry("overview", "overview", "/desk", (SUMMARY, LIST_ORDERS), "h"),
    Entry("sell", "sale", "/desk/sell", (RECORD,), "n"),
    Entry("orders", "orders", "/desk/orders", (LIST_ORDERS,), "o"),
    Entry("customers", "customers", "/desk/customers", (LIST_CUSTOMERS,), "c"),
    Entry("products", "products", "/desk/products", (LIST_PRODUCTS,), "p"),
    Entry("links", "link", "/desk/links", (LIST_LINKS,), "l"),
    Entry("finance", "finance", "/desk/finance", (SUMMARY,), "f"),
    Entry("wallet", "wallet", "/desk/wallet", (WALLET,), "b"),
    Entry("connections", "plug", "/desk/connections", (LIST_PROVIDERS,), "x"),
    Entry("people", "people", "/desk/people", (LIST_MEMBERS,), "e"),
    Entry("settings", "settings", "/desk/settings", (LIST_STORES,), "s"),
    Entry("keys", "key", "/desk/developers/keys", (LIST_KEYS,), "a", head="developers",
          others=("/desk/developers/begin",)),
    Entry("webhooks", "hook", "/desk/developers/webhooks", (LIST_ENDPOINTS,), "w"),
    Entry("logs", "list", "/desk/developers/logs", (AUDIT,), "t",
          others=("/desk/developers/events", "/desk/developers/usage")),
)  # fmt: skip


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The frame around a page."""

    business: OwnBusiness
    stores: list[dict[str, Any]]
    # The store that is chosen in this browser; None shows all.
    store: dict[str, Any] | None
    entries: tuple[Entry, ...]
    # The entry whose page this is, or is below.
    here: Entry | None
    # The time in the zone of the business.
    local: datetime
    initials: str

    @property
    def currency(self) -> str:
        """The currency of every amount."""
        return self.business.currency

    @property
    def store_id(self) -> str | None:
        """The store whose rows a page shows; None: those of all."""
        return self.store["id"] if self.store else None

    @property
    def home(self) -> str:
        """The page that there is in both books: nothing else of this one is in the other."""
        return self.here.address if self.here else "/desk"

    @property
    def day(self) -> str:
        """The day there, such as "Friday 20 November"."""
        return day(self.local)

    @property
    def zone(self) -> str:
        """The time zone of the business."""
        return self.business.time_zone

    def when(self, text: str | None) -> str:
        """A time of the API as a person reads it; nothing where there is none."""
        return when(text, self.zone, self.local.date()) if text else ""

    def when_exactly(self, text: str | None) -> str:
        """The same, with the time of any day."""
        return when_exactly(text, self.zone, self.local.date()) if text else ""


def first_page(page: PageRequest) -> str:
    """The page that work begins on: that of keys for a role that has these, and sells nothing."""
    builds = page.may(LIST_KEYS) and not page.may(RECORD)
    return next(one.address for one in ENTRIES if one.name == ("keys" if builds else "overview"))


async def frame_of(page: PageRequest) -> Frame:
    """The frame of a page; it is asked for once for each page."""
    if page.frame is None:
        page.frame = await _frame_of(page)
    return page.frame


async def _frame_of(page: PageRequest) -> Frame:
    person, business = page.member, page.member.business
    assert business is not None, "the person was found by a session"  # noqa: S101
    stores: list[dict[str, Any]] = []
    if page.may(LIST_STORES):
        stores = (await page.ask(LIST_STORES, query={"limit": _STORES_SHOWN})).data
    path = page.action.partition("?")[0]
    return Frame(
        business=business,
        stores=stores,
        store=next((one for one in stores if one["id"] == page.given.store), None),
        entries=tuple(entry for entry in ENTRIES if any(map(page.may, entry.operations))),
        here=entry_of(path),
        local=page.request.now.astimezone(zone(business.time_zone)),
        initials="".join(word[0] for word in person.name.split()[:2]).upper(),
    )


def entry_of(path: str) -> Entry | None:
    """The entry that a page belongs to: of those whose address it is below, the longest."""
    start = ENTRIES[0].address
    below = [
        entry
        for entry in ENTRIES
        if path == entry.address
        or (entry.address != start and path.startswith((entry.address, *entry.others)))
    ]
    return below[-1] if below else None
