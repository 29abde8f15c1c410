"""Some orders for the demo business, recorded like those that a business imports."""

import hashlib
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import msgspec

from tillhouse.access.process import Services
from tillhouse.accounts.store import lock_business
from tillhouse.cli.output import CommandError
from tillhouse.cli.rows import Bar
from tillhouse.http.fields import parse
from tillhouse.jobs.chores import fold
from tillhouse.kit.clock import iso, now
from tillhouse.kit.ids import ProductId
from tillhouse.orders.importing.actions import ReadyOrder, record_all
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES
from tillhouse.orders.storage.filling import Filling
from tillhouse.orders.store import list_recorded
from tillhouse.orders.types import NewOrder
from tillhouse.products.actions.imports import import_products
from tillhouse.products.sheet import ProductRow
from tillhouse.products.store.facts import list_owners
from tillhouse.products.values import CatalogName, Price, Sku
from tillhouse.webhooks.emit import Source

ORDERS_MAX = 1_000
_DAYS = 60
_OPENS, _CLOSES = 9, 21
_CUSTOMERS = ("Ada Okafor", "Chidi Eze", "Ngozi Obi", "Tunde Bakare", "Halima Musa", "Femi Ojo")
_CHANNELS = ("in_person", "whatsapp", "storefront", "instagram")
_METHODS = ("cash", "transfer", "pos")
# Name, category, price.
_MENU = (
    ("Jollof rice", "Rice", 2500), ("Fried rice", "Rice", 2500), ("Ofada rice", "Rice", 3000),
    ("Egusi soup", "Soups", 3500), ("Pepper soup", "Soups", 4000), ("Efo riro", "Soups", 3000),
    ("Suya", "Grills", 2000), ("Grilled catfish", "Grills", 7500), ("Asun", "Grills", 4500),
    ("Meat pie", "Snacks", 800), ("Puff puff", "Snacks", 500), ("Plantain chips", "Snacks", 700),
    ("Zobo", "Drinks", 1000), ("Chapman", "Drinks", 1800), ("Bottled water", "Drinks", 300),
)  # fmt: skip


class Filled(msgspec.Struct, frozen=True, kw_only=True):
    """How many demo orders there are now, and how many this run recorded."""

    orders: int
    added: int


class _Dish(msgspec.Struct, frozen=True):
    product_id: ProductId
    name: str
    price: int


async def record_orders(services: Services, origin: Source, wanted: int) -> Filled:
    """Record the demo orders up to this number; those that are recorded already stay."""
    menu = await _menu(services, origin)
    keys = [f"demo:{number:06}" for number in range(wanted)]
    async with services.pool.reading() as db:
        recorded = await list_recorded(db, origin.book.id, keys)
    moment = now()
    missing = [
        _order(key, number, menu, moment) for number, key in enumerate(keys) if key not in recorded
    ]
    if missing:
        await _require_room(services, origin, len(missing))
    with Bar("Recording orders", len(missing)) as done:
        results = await record_all(services, origin, missing, done)
    for fault in (fault for result in results for fault in result.faults):
        raise CommandError(f"An order can't be recorded: {fault.field} {fault.message}.".strip())
    # The senders are other processes: a command has no worker that hears its notifier.
    await services.pool.notify()
    await fold(services.pool, ORDER_TALLIES)
    added = sum(not result.is_there for result in results)
    return Filled(orders=wanted, added=added)


async def _require_room(services: Services, origin: Source, wanted: int) -> None:
    """Refuse more orders than the quota of the book has room for; all of them have no MiB."""
    filling = Filling(services, origin.book.id)
    await filling.count()
    if setting := filling.setting_without_room(wanted):
        raise CommandError(
            f"{wanted} more demo orders don't fit: the test environment holds {filling.told()}, "
            f"and nothing was recorded. Raise {setting}, or ask for fewer."
        )


async def _menu(services: Services, origin: Source) -> list[_Dish]:
    """The demo products; those that are missing are made."""
    skus = [f"DISH-{number:02}" for number in range(1, len(_MENU) + 1)]
    async with services.pool.transaction() as db:
        # Of two runs at once, the second finds the rows of the first.
        await lock_business(db, origin.business_id)
        owners = await list_owners(db, origin.book.id, skus)
        there = {sku for sku, _, _ in owners}
        rows = [
            ProductRow(
                name=CatalogName(name),
                sku=Sku(sku),
                category=CatalogName(category),
                base_price=Price(Decimal(price)),
            )
            for sku, (name, category, price) in zip(skus, _MENU, strict=True)
            if sku not in there
        ]
        if rows:
            made = await import_products(db, origin, rows, now(), lambda _: None)
            for fault in made.faults:
                raise CommandError(
                    f"The demo menu can't be made: {fault.error.field} {fault.error.message}."
                )
            owners = await list_owners(db, origin.book.id, skus)
    products = {sku: product_id for sku, product_id, variant_id in owners if variant_id is None}
    return [
        _Dish(ProductId(products[sku]), name, price)
        for sku, (name, _, price) in zip(skus, _MENU, strict=True)
    ]


def _order(key: str, number: int, menu: list[_Dish], moment: datetime) -> ReadyOrder:
    """The order with this number: the same dishes and the same customer at every run."""
    chance = Random(number)  # noqa: S311 - no secret
    lines = [(dish, chance.randint(1, 3)) for dish in chance.sample(menu, chance.randint(1, 3))]
    day = moment - timedelta(days=1 + chance.randrange(_DAYS))
    at = day.replace(hour=chance.randrange(_OPENS, _CLOSES), minute=chance.randrange(60))
    total = sum(dish.price * quantity for dish, quantity in lines)
    value: dict[str, Any] = {
        "items": [
            {"product_id": str(dish.product_id), "product_name": dish.name, "quantity": quantity}
            for dish, quantity in lines
        ],
        "channel": chance.choice(_CHANNELS),
        "occurred_at": iso(at),
        **_payment(total, chance),
    }
    person = chance.randrange(2 * len(_CUSTOMERS))
    phone = None
    if person < len(_CUSTOMERS):
        phone, value["customer_name"] = f"+2347000000{person:03}", _CUSTOMERS[person]
    return ReadyOrder(
        key=key,
        fingerprint=hashlib.sha256(key.encode()).digest(),
        new=parse(value, NewOrder),
        phone=phone,
    )


def _payment(total: int, chance: Random) -> dict[str, Any]:
    """Most are paid in full, some in part, some not yet."""
    share = chance.choices((1, Decimal("0.5"), 0), weights=(90, 4, 6))[0]
    return {"payment_method": chance.choice(_METHODS), "amount_paid": total * share}
