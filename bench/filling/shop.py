"""The place of the sales: stores, people, tags and a menu, made by the product's own actions."""

from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

import msgspec

from bench.filling import names
from bench.filling.store import list_goods
from tillhouse.access import audit
from tillhouse.access.audit import COMMAND_LINE
from tillhouse.access.call import Call
from tillhouse.accounts import store as accounts
from tillhouse.cli.output import CommandError
from tillhouse.kit.ids import BookId, UserId, new_id, public_reference
from tillhouse.kit.page import Paged
from tillhouse.kit.values import Email, Name, NewPassword
from tillhouse.labels.actions import tag_ids
from tillhouse.orders.recording.facts import ProductFacts, RecordingFacts, VariantFacts
from tillhouse.orders.recording.store.facts import NamedIds, find_facts
from tillhouse.orders.types import Person
from tillhouse.products.actions.imports import import_products
from tillhouse.products.sheet import ProductRow
from tillhouse.products.values import CatalogName, Price, Rate, Sku
from tillhouse.stores import actions as store_actions
from tillhouse.stores.types import NewStore
from tillhouse.webhooks.emit import source

_ALL = Paged(limit=100)
_PRICE_STEP = 50


class Shop(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that sales are made of."""

    book_id: BookId
    facts: RecordingFacts
    stores: list[UUID]
    staff: list[Person]
    tags: list[UUID]
    # Products with the variant that is meant, the most wanted first.
    goods: list[tuple[ProductFacts, VariantFacts]]


async def prepare_shop(call: Call) -> Shop:
    """Make what is missing, and read what there is."""
    await accounts.lock_business(call.db, call.business_id)
    listed = await store_actions.list_stores(call, _ALL)
    stores = {store.name: store.id for store in listed.rows}
    for name in names.STORES:
        if name not in stores:
            stores[name] = (await store_actions.create_store(call, NewStore(name=Name(name)))).id
    staff = await _staff(call)
    tags = await tag_ids(call, list(names.TAGS))
    products = await _products(call)
    wanted = NamedIds(products=products, variants=[], bare_products=products, options=[], tags=[])
    facts = (await find_facts(call.db, (call.book.id, None, None), [wanted])).of(wanted)
    goods = [(p, v) for p in (facts.products[one] for one in products) for v in p.variants]
    if not goods:
        raise CommandError("The demo business has nothing to sell: its products are gone.")
    return Shop(
        book_id=call.book.id,
        facts=facts,
        stores=[stores[name] for name in names.STORES],
        staff=staff,
        tags=tags,
        goods=goods,
    )


async def _staff(call: Call) -> list[Person]:
    listed = await store_actions.list_staff(call, _ALL)
    there = {one.name: one.id for one in listed.rows}
    for name in names.STAFF:
        if name not in there:
            there[name] = await _hire(call, name)
    return [Person(there[name], name) for name in names.STAFF]


async def _hire(call: Call, name: str) -> UserId:
    """A cashier whose password nobody knows: `tillhouse user password` sets one."""
    user_id = UserId(new_id())
    local = name.lower().replace(" ", ".")
    address = Email(f"{local}.{call.business_id.hex[-6:]}@tillhouse.example")
    secret = await call.services.passwords.hash(NewPassword(public_reference("")))
    await accounts.insert_user(call.db, user_id, address, name, secret, call.now)
    await accounts.upsert_member(call.db, call.business_id, user_id, "cashier", call.now)
    what = ("member.added", f"Added {address} as cashier")
    metadata = {"userId": str(user_id), "role": "cashier"}
    await audit.append(call.db, call.business_id, COMMAND_LINE, what, metadata, call.now)
    return user_id


async def _products(call: Call) -> list[UUID]:
    found = await list_goods(call.db, call.book.id)
    if not found:
        rows = list(_rows())
        made = await import_products(call.db, source(call), rows, call.now, lambda _: None)
        if made.faults:
            first = made.faults[0].error
            raise CommandError(f"The menu can't be made: {first.field} {first.message}.")
        found = await list_goods(call.db, call.book.id)
    return found


def _rows() -> Iterator[ProductRow]:
    """The menu as an import would bring it."""
    number = 0
    for category, dishes, low, high, rate in names.MENU:
        listed = dishes.split(", ")
        for place, dish in enumerate(listed):
            number += 1
            price = low + (high - low) * place // len(listed) // _PRICE_STEP * _PRICE_STEP
            own = ProductRow(
                name=CatalogName(dish),
                sku=Sku(f"DEMO-{number:03}"),
                type="variable" if _sizes(category, place) else "simple",
                base_price=Price(Decimal(price)),
                category=CatalogName(category),
                tax_rate=Rate(Decimal(rate)),
            )
            yield own
            for size, more in _sizes(category, place):
                yield ProductRow(
                    name=CatalogName(dish),
                    sku=Sku(f"DEMO-{number:03}-{size}".upper().replace(" ", "")),
                    variant=CatalogName(size),
                    price=Price(Decimal(price + more)),
                )


def _sizes(category: str, place: int) -> tuple[tuple[str, int], ...]:
    return names.SIZES.get(category, ()) if place < names.SIZED_DISHES else ()
