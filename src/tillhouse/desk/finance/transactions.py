"""Pages of transactions: the list, one, its receipt, and asking its provider."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tillhouse.desk.finance import operations as ops
from tillhouse.desk.frame.lists import pager, views
from tillhouse.desk.frame.places import Frame, frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import exact, money_column, named
from tillhouse.desk.page import Onward, PageRequest, Shown

PATH = "/desk/finance/transactions"
Data = Mapping[str, Any]
VIEWS: Mapping[str, Mapping[str, str]] = {
    "all": {},
    "open": {"status": "pending,processing"},
    "wallet": {"type": "wallet_deposit,wallet_withdrawal"},
    "expenses": {"type": "expense"},
    "back": {"type": "refund,reversal"},
}
_METHODS = ("", "cash", "transfer", "card", "cloove_pay", "credit", "wallet", "other")
_OF_PROVIDERS = ("wallet_withdrawal", "reversal", "fee")
_FILTERS = ("type", "status", "method", "from", "to", "search", "customer_id", "page")
_PER_PAGE = 25
# A fact: its label, its text, and the page that it leads to.
Fact = tuple[str, str, str | None]


class TransactionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction of a list."""

    address: str
    name: str
    more: str
    reference: str
    method: str
    at: str
    when: str
    state: str
    amount: str


async def show_list(page: PageRequest) -> Shown:
    """Transactions, the newest first, by the filters in the address."""
    frame, query = await frame_of(page), page.request.query
    wanted = {name: query[name] for name in _FILTERS if query.get(name)}
    found = await page.needed(
        ops.LIST_TRANSACTIONS, limit=_PER_PAGE, **wanted, store_id=frame.store_id
    )
    facts: dict[str, Any] = {
        "rows": _rows(found.data, frame),
        "pager": pager(PATH, query, found.extra["meta"]),
        "methods": _METHODS,
        "views": views(PATH, VIEWS, query),
    }
    return Shown("finance/transactions.html", facts)


async def show_one(page: PageRequest) -> Shown:
    """One transaction with all that it belongs to."""
    found = await page.needed(ops.TRANSACTION, page.path["transaction_id"])
    return Shown("finance/transaction.html", _shown(found.data, await frame_of(page)))


async def receipt(page: PageRequest) -> Onward:
    """Open the receipt, which is made if there is none as the transaction stands."""
    made = await page.act(ops.RECEIPT, page.path["transaction_id"])
    url = urlsplit(made.data["url"])
    return Onward(f"{url.path}?{url.query}")


async def requery(page: PageRequest) -> Onward:
    """Ask the provider how it stands, and tell whether that changed anything."""
    transaction_id = page.path["transaction_id"]
    answer = await page.act(ops.REQUERY, transaction_id)
    told = "changed" if answer.extra["meta"]["changed"] else "unchanged"
    return Onward(f"{PATH}/{transaction_id}?asked={told}")


def signed(one: Data) -> Any:
    """The amount, below zero where it went out."""
    return one["amount"] if one["direction"] == "in" else -one["amount"]


def _rows(transactions: list[Data], frame: Frame) -> list[TransactionRow]:
    amounts = money_column([signed(one) for one in transactions], frame.currency)
    return [
        TransactionRow(
            address=f"{PATH}/{one['id']}",
            name=named("transaction_type", one["type"]),
            more=" · ".join(_more(one)),
            reference=one["reference"],
            method=named("method", one["method"]),
            at=one["fullDate"],
            when=frame.when(one["fullDate"]),
            state=one["status"],
            amount=amount,
        )
        for one, amount in zip(transactions, amounts, strict=True)
    ]


def _more(one: Data) -> Iterator[str]:
    yield from filter(None, (one["customer"], one["orderShortCode"]))
    if one["changeAmount"]:
        amount = exact(one["changeAmount"], one["currency"])
        yield sentence("order_page.with_change", amount=amount)


def _shown(one: Data, frame: Frame) -> dict[str, Any]:
    return {
        "transaction": {
            "id": one["id"],
            "name": named("transaction_type", one["type"]),
            "reference": one["reference"],
            "state": one["status"],
            "amount": exact(signed(one), one["currency"]),
            "has_provider": _has_provider(one),
        },
        "facts": list(_facts(one, frame)),
        "provider": list(_provider(one)),
    }


def _has_provider(one: Data) -> bool:
    """Whether there is a provider to ask: none knows of money that was taken by hand."""
    is_online = one["method"] == "cloove_pay" or one["providerMoney"] is not None
    return is_online or one["type"] in _OF_PROVIDERS


def _facts(one: Data, frame: Frame) -> Iterator[Fact]:
    change = exact(one["changeAmount"], one["currency"]) if one["changeAmount"] else None
    for name, value, path in (
        ("when", frame.when(one["fullDate"]), None),
        ("method", named("method", one["method"]), None),
        ("direction", sentence(f"transaction_fact.{one['direction']}"), None),
        ("change", change, None),
        ("customer", one["customer"], ("/desk/customers/{}", one["customerId"])),
        ("order", one["orderShortCode"], ("/desk/orders/{}", one["orderId"])),
        ("expense", one["expenseId"], ("/desk/finance/expenses/{}", one["expenseId"])),
        ("dispute", one["disputeId"], ("/desk/finance/disputes/{}", one["disputeId"])),
        ("link", one["paymentLinkReference"], ("/desk/links/{}", one["paymentLinkId"])),
        ("id", one["id"], None),
    ):
        if value:
            to = path[0].format(path[1]) if path and path[1] else None
            yield sentence(f"transaction_fact.{name}"), value, to


def _provider(one: Data) -> Iterator[tuple[str, str]]:
    """The payment as its provider tells it; nothing of another transaction."""
    if (told := one["providerMoney"]) is None:
        return
    yield sentence("transaction_fact.provider"), told["provider"].capitalize()
    yield sentence("transaction_fact.gross"), exact(told["gross"], told["currency"])
    yield sentence("transaction_fact.fee"), exact(-told["fee"], told["currency"])
    yield sentence("transaction_fact.net"), exact(told["net"], told["currency"])
    if told["feeReturned"]:
        yield (
            sentence("transaction_fact.fee_returned"),
            exact(told["feeReturned"], told["currency"]),
        )
