"""The overview: the figures of today beside those of the same weekday before."""

from datetime import date, timedelta
from typing import Any

from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.counts.room import ROOM as WAITING
from tillhouse.desk.frame.places import LIST_ORDERS, SUMMARY, frame_of
from tillhouse.desk.frame.words import moment
from tillhouse.desk.operations import Acting, Arguments, Operation, call
from tillhouse.desk.orders.listing import LIST
from tillhouse.desk.overview import figures
from tillhouse.desk.overview.attention import tasks
from tillhouse.desk.page import Live, PageRequest, PageRoute, Shown

BUSINESS = Operation(ACCOUNTS, "GET", "/v1/business")
COUNTS = Operation(WAITING, "GET", "/v1/counts")
_LATEST = 8
_WEEK = timedelta(days=7)


async def show(page: PageRequest) -> Shown:
    """The day of the business, or of one store."""
    frame = await frame_of(page)
    now, latest, counts = await page.together(
        page.read(SUMMARY, store_id=frame.store_id),
        page.read(LIST, limit=_LATEST, store_id=frame.store_id),
        page.read(COUNTS),
    )
    facts: dict[str, Any] = {
        "part_of_day": figures.part_of_day(frame.local),
        "hours": None, "weekday": None, "money": None, "orders": None,
        "tasks": tasks(counts.data) if counts else [], "is_new": False,
        "is_in_test": False,
    }  # fmt: skip
    if now:
        week_ago = date.fromisoformat(now.data["date"]) - _WEEK
        before = await page.read(SUMMARY, date=week_ago.isoformat(), store_id=frame.store_id)
        if before:
            facts["hours"] = figures.hours(now.data, before.data, frame.local)
            if facts["hours"].change is None and page.may(BUSINESS):
                # Nothing is compared with a day before the business was there.
                made = (await page.ask(BUSINESS)).data["createdAt"]
                facts["is_new"] = moment(made, frame.zone).date() > week_ago
            facts["weekday"] = f"{week_ago:%A}"
        facts["money"] = figures.money_of_day(now.data)
    if latest:
        if not latest.data and page.mode == "live":
            # A person who was invited sees the live book first, though all may be in the other.
            test, one = Acting(page.person, "test"), Arguments(query={"limit": 1})
            found = await call(page.services, page.request, test, LIST_ORDERS, one)
            facts["is_in_test"] = bool(found.data)
        facts["orders"] = figures.orders(latest.data, latest.extra["summary"], frame)
    return Shown("overview/overview.html", facts)


_PARTS = ("figures", "day", "latest", "tasks")
_LIVE = Live(
    (SUMMARY, LIST_ORDERS),
    {
        "order.": _PARTS,
        "payment.": _PARTS,
        "kitchen_ticket.": ("latest", "tasks"),
        "wallet.": ("figures",),
    },
)
ROUTES = (PageRoute("GET", "/desk", show, live=_LIVE),)
