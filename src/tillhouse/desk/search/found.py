"""Everything that a search finds: pages, actions, and things of five lists."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.desk.customers.operations import CUSTOMER
from tillhouse.desk.finance.operations import LIST_TRANSACTIONS, TRANSACTION
from tillhouse.desk.frame.places import (
    LIST_CUSTOMERS,
    LIST_LINKS,
    LIST_ORDERS,
    LIST_PRODUCTS,
    RECORD,
    Frame,
)
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import money, named
from tillhouse.desk.links.operations import LINK, MAKE
from tillhouse.desk.operations import Operation
from tillhouse.desk.orders.operations import ORDER
from tillhouse.desk.page import PageRequest
from tillhouse.desk.products.operations import PRODUCT
from tillhouse.kit.errors import Invalid, Missing

_OF_EACH = 3
_LENGTH_MIN, _LENGTH_MAX = 2, 60
Data = Mapping[str, Any]


class Hit(msgspec.Struct, frozen=True):
    """One thing to go to."""

    icon: str
    name: str
    more: str
    address: str


class Kind(msgspec.Struct, frozen=True):
    """A list that is searched, and how one of its things is shown."""

    name: str
    icon: str
    path: str
    # The operations of the list, and of one thing by its id.
    listed: Operation
    one: Operation
    # Its name, and more about it.
    words: Callable[[Data, str], tuple[str, str]]
    # The field of the code by which people name it.
    code: str


def _order(one: Data, currency: str) -> tuple[str, str]:
    name = one["customer"]["name"] if one["customer"] else one["summary"]
    return name, f"{one['shortCode']}, {money(one['totalAmount'], currency)}"


def _customer(one: Data, _currency: str) -> tuple[str, str]:
    return one["name"], one["phoneNumber"] or one["email"] or ""


def _product(one: Data, _currency: str) -> tuple[str, str]:
    return one["name"], one["sku"] or ""


def _link(one: Data, currency: str) -> tuple[str, str]:
    return one["title"] or one["reference"], money(one["amount"], currency)


def _transaction(one: Data, currency: str) -> tuple[str, str]:
    amount = money(one["amount"], currency)
    return named("transaction_type", one["type"]), f"{one['reference']}, {amount}"


KINDS = (
    Kind("orders", "orders", "/desk/orders", LIST_ORDERS, ORDER, _order, "shortCode"),
    Kind("customers", "customers", "/desk/customers", LIST_CUSTOMERS, CUSTOMER, _customer, "id"),
    Kind("products", "products", "/desk/products", LIST_PRODUCTS, PRODUCT, _product, "sku"),
    Kind("links", "link", "/desk/links", LIST_LINKS, LINK, _link, "reference"),
    Kind(
        "transactions", "finance", "/desk/finance/transactions", LIST_TRANSACTIONS, TRANSACTION,
        _transaction, "reference",
    ),
)  # fmt: skip


class Findings(msgspec.Struct, frozen=True):
    """Everything that was found, by its kind, and the one thing that was named exactly."""

    groups: list[tuple[str, list[Hit]]]
    exact: str | None


def places(page: PageRequest, frame: Frame, query: str) -> list[tuple[str, list[Hit]]]:
    """The pages and actions whose names have these words in them; all without words."""
    pages = [
        Hit(one.icon, sentence(f"nav.{one.name}"), f"g {one.letter}", one.address)
        for one in frame.entries
    ]
    pages += [
        Hit("user", sentence("frame.account"), "", "/desk/account"),
        Hit("settings", sentence("search.keys"), "?", "/desk/keys"),
    ]
    actions = [
        Hit("plus", sentence("sell.title"), "n", "/desk/sell") if page.may(RECORD) else None,
        Hit("plus", sentence("search.new_link"), "", "/desk/links/new") if page.may(MAKE) else None,
    ]
    groups = (("pages", pages), ("actions", [one for one in actions if one]))
    words = query.casefold()
    found = [(name, [one for one in hits if words in one.name.casefold()]) for name, hits in groups]
    return [(name, hits) for name, hits in found if hits]


async def things(page: PageRequest, frame: Frame, query: str) -> Findings:
    """Things of all lists that the role may read; one that has this id or code, by itself."""
    if not _LENGTH_MIN <= len(query) <= _LENGTH_MAX:
        return Findings([], None)
    if (id_ := _id(query)) is not None:
        return await _by_id(page, frame, id_)
    answers = await page.together(*(_listed(page, one, query) for one in KINDS))
    groups: list[tuple[str, list[Hit]]] = []
    exact: str | None = None
    for kind, answer in zip(KINDS, answers, strict=True):
        rows: list[Data] = answer.data if answer else []
        if rows:
            groups.append((kind.name, [_hit(kind, one, frame) for one in rows]))
        named_so = [one for one in rows if (one[kind.code] or "").casefold() == query.casefold()]
        if len(named_so) == 1:
            exact = exact or f"{kind.path}/{named_so[0]['id']}"
    return Findings(groups, exact)


async def _listed(page: PageRequest, kind: Kind, query: str) -> Any:
    try:
        return await page.read(kind.listed, search=query, limit=_OF_EACH)
    except Invalid:
        # A list that can't be searched for these words has none of them.
        return None


async def _by_id(page: PageRequest, frame: Frame, id_: str) -> Findings:
    for kind in KINDS:
        try:
            answer = await page.read(kind.one, id_)
        except Missing:
            continue
        if answer is not None:
            hit = _hit(kind, answer.data, frame)
            return Findings([(kind.name, [hit])], hit.address)
    return Findings([], None)


def _hit(kind: Kind, one: Data, frame: Frame) -> Hit:
    name, more = kind.words(one, frame.currency)
    return Hit(kind.icon, name, more, f"{kind.path}/{one['id']}")


def _id(query: str) -> str | None:
    try:
        return str(UUID(query))
    except ValueError:
        return None
