"""Pages of debts and of disputes: money that is still to come, or is wanted back."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from tillhouse.desk.finance import operations as ops
from tillhouse.desk.frame.lists import pager, views
from tillhouse.desk.frame.places import Frame, frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import exact, money_column
from tillhouse.desk.links.operations import MAKE as MAKE_LINK
from tillhouse.desk.page import PageRequest, Shown

DEBTS, DISPUTES = "/desk/finance/debts", "/desk/finance/disputes"
Data = Mapping[str, Any]
_PER_PAGE = 25
_DEBT_VIEWS: Mapping[str, Mapping[str, str]] = {
    **{status: {"status": status} for status in ("active", "paid", "voided", "removed")},
    "all": {},
}
_DISPUTE_VIEWS: Mapping[str, Mapping[str, str]] = {
    **{status: {"status": status} for status in ("evidence_due", "opened", "won", "lost")},
    "all": {},
}


async def show_debts(page: PageRequest) -> Shown:
    """Debts by their state, those of a customer alone if the address says so."""
    frame, query = await frame_of(page), page.request.query
    found = await page.needed(
        ops.LIST_DEBTS, limit=_PER_PAGE, **_wanted(query, "status", "customer_id", "page")
    )
    amounts = money_column([one["balance"] for one in found.data], frame.currency)
    facts = {
        "rows": [
            _debt(one, frame) | {"balance": amount}
            for one, amount in zip(found.data, amounts, strict=True)
        ],
        "pager": pager(DEBTS, query, found.extra["meta"]),
        "views": views(DEBTS, _DEBT_VIEWS, query),
    }
    return Shown("finance/debts.html", facts)


async def show_debt(page: PageRequest) -> Shown:
    """One debt, with the way to its order and to a link for it."""
    found = (await page.needed(ops.DEBT, page.path["debt_id"])).data
    debt = _debt(found, await frame_of(page)) | {
        "balance": exact(found["balance"], found["currency"])
    }
    return Shown("finance/debt.html", {"debt": debt, "may_ask": page.may(MAKE_LINK)})


async def show_disputes(page: PageRequest) -> Shown:
    """Disputes by their state."""
    frame, query = await frame_of(page), page.request.query
    found = await page.needed(
        ops.LIST_DISPUTES,
        limit=_PER_PAGE,
        **_wanted(query, "status", "order_id", "reservation_id", "page"),
    )
    amounts = money_column([one["amount"] for one in found.data], frame.currency)
    facts = {
        "rows": [
            _dispute(one, frame) | {"amount": amount}
            for one, amount in zip(found.data, amounts, strict=True)
        ],
        "pager": pager(DISPUTES, query, found.extra["meta"]),
        "views": views(DISPUTES, _DISPUTE_VIEWS, query),
    }
    return Shown("finance/disputes.html", facts)


async def show_dispute(page: PageRequest) -> Shown:
    """One dispute: until when evidence is taken, and what it has cost so far."""
    frame = await frame_of(page)
    found = (await page.needed(ops.DISPUTE, page.path["dispute_id"])).data
    currency = found["currency"]
    facts = {
        "dispute": _dispute(found, frame)
        | {
            "amount": exact(found["amount"], currency),
            "taken": exact(found["takenAmount"], currency),
            "fee": exact(found["fee"], currency),
            "payment": exact(found["paymentAmount"], currency),
            "provider": found["provider"].capitalize(),
        },
        "facts": list(_dispute_facts(found, frame)),
    }
    return Shown("finance/dispute.html", facts)


def _wanted(query: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: query[name] for name in names if query.get(name)}


def _debt(one: Data, frame: Frame) -> dict[str, Any]:
    return {
        "id": one["id"],
        "address": f"{DEBTS}/{one['id']}",
        "customer": one["customer"],
        "order": one["orderId"],
        "code": one["orderShortCode"],
        "state": one["status"],
        "at": one["openedAt"],
        "since": frame.when(one["openedAt"]),
        "closed": frame.when(one["closedAt"]),
    }


def _dispute(one: Data, frame: Frame) -> dict[str, Any]:
    return {
        "id": one["id"],
        "address": f"{DISPUTES}/{one['id']}",
        "about": one["orderShortCode"] or one["reservationShortCode"] or "",
        "reason": one["reason"] or "",
        "state": one["status"],
        "at": one["openedAt"],
        "opened": frame.when(one["openedAt"]),
        "due": frame.when(one["evidenceDueBy"]),
    }


def _dispute_facts(one: Data, frame: Frame) -> Iterator[tuple[str, str, str | None]]:
    stay, link = one["reservationShortCode"], one["paymentLinkId"]
    for name, value, to in (
        ("opened", frame.when(one["openedAt"]), None),
        ("due", frame.when(one["evidenceDueBy"]), None),
        ("closed", frame.when(one["closedAt"]), None),
        ("reason", one["reason"], None),
        ("provider", one["provider"].capitalize(), None),
        ("order", one["orderShortCode"], f"/desk/orders/{one['orderId']}"),
        ("stay", stay, f"{DISPUTES}?{urlencode({'reservation_id': one['reservationId']})}"),
        ("link", link, f"/desk/links/{link}"),
        ("at_provider", one["providerDisputeId"], None),
        ("payment_there", one["providerTransactionId"], None),
        ("id", one["id"], None),
    ):
        if value:
            yield sentence(f"dispute_fact.{name}"), value, to
