"""Payment links in words: the rows of a list, and one link."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tillhouse.desk.frame.places import Frame
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import exact, money_column

Data = Mapping[str, Any]
# A view is a query with a name.
VIEWS: Mapping[str, Mapping[str, str]] = {
    "all": {},
    "active": {"status": "active"},
    "paid": {"status": "PAID"},
    "expired": {"status": "EXPIRED"},
    "cancelled": {"status": "CANCELLED"},
}
_PAGES_OF_TARGETS = {"sale": "/desk/orders/{}", "debt": "/desk/finance/debts/{}"}


class LinkRow(msgspec.Struct, frozen=True, kw_only=True):
    """One link of a list."""

    address: str
    title: str
    more: str
    kind: str
    status: str
    expires: str
    amount: str
    # The address to copy; None of a link that asks for nothing.
    url: str | None


def rows(links: list[Data], frame: Frame) -> list[LinkRow]:
    """The rows of a list."""
    amounts = money_column([one["amount"] for one in links], frame.currency)
    return [
        LinkRow(
            address=f"/desk/links/{one['id']}",
            title=one["title"] or one["description"],
            more=" · ".join(_more(one)),
            kind=sentence(f"link_target.{one['targetType']}"),
            status=one["status"],
            expires=_expires(one, frame),
            amount=amount,
            url=one["url"] if one["status"] == "active" else None,
        )
        for one, amount in zip(links, amounts, strict=True)
    ]


def _more(link: Data) -> Iterator[str]:
    if link["customerName"]:
        yield link["customerName"]
    if link["status"] == "active" and link["amountReceived"]:
        amount = exact(link["amountReceived"], link["currency"])
        yield sentence("links.received", amount=amount)
    yield from (sentence(f"link_condition.{one}") for one in link["paymentCondition"])


def _expires(link: Data, frame: Frame) -> str:
    if link["status"] not in ("active", "EXPIRED"):
        return ""
    if link["expiresAt"] is None:
        return sentence("links.never")
    return frame.when_exactly(link["expiresAt"])


class LinkShown(msgspec.Struct, frozen=True, kw_only=True):
    """A link as its page tells it."""

    id: str
    title: str
    about: str
    status: str
    url: str
    # The address of its code on this host.
    qr: str
    is_active: bool
    amount: str
    received: str
    outstanding: str
    payments: int
    # Of each thing that was unusual about its payments, its name.
    conditions: list[str]
    target: str
    # The page of what it is paid for; None of the wallet.
    target_address: str | None
    customer: tuple[str, str | None] | None
    facts: list[tuple[str, str]]


def shown(link: Data, frame: Frame) -> LinkShown:
    """The whole of a link."""
    currency = link["currency"]
    page = _PAGES_OF_TARGETS.get(link["targetType"])
    customer = link["customerName"] or link["customerEmail"] or link["customerPhone"]
    customer_id = link["customerId"]
    return LinkShown(
        id=link["id"],
        title=link["title"] or link["description"],
        about=sentence(f"link_target.{link['targetType']}"),
        status=link["status"],
        url=link["url"],
        qr=urlsplit(link["qr"]).path,
        is_active=link["status"] == "active",
        amount=exact(link["amount"], currency),
        received=exact(link["amountReceived"], currency),
        outstanding=exact(link["amountOutstanding"], currency),
        payments=link["paymentsCount"],
        conditions=link["paymentCondition"],
        target=link["description"],
        target_address=page.format(link["targetId"]) if page else None,
        customer=(customer, f"/desk/customers/{customer_id}" if customer_id else None)
        if customer
        else None,
        facts=list(_facts(link, frame)),
    )


def paid(transactions: list[Data], frame: Frame) -> list[tuple[str, str, str]]:
    """The payments of a link: when, how much, and the page of each."""
    return [
        (
            frame.when_exactly(one["fullDate"]),
            exact(one["amount"], one["currency"]),
            f"/desk/finance/transactions/{one['id']}",
        )
        for one in transactions
    ]


def _facts(link: Data, frame: Frame) -> Iterator[tuple[str, str]]:
    for name, value in (
        ("made", frame.when_exactly(link["createdAt"])),
        ("expires", _expires(link, frame)),
        ("back_to", link["redirectUrl"]),
        ("reference", link["reference"]),
        ("id", link["id"]),
    ):
        if value:
            yield sentence(f"link_fact.{name}"), value
