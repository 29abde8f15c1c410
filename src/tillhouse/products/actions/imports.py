"""Products from a table: every row is judged before the first is written."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from tillhouse.access.store.businesses import find_currency
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.kit.ids import BookId, new_id
from tillhouse.kit.imported import Imported, RowFault
from tillhouse.products import sheet
from tillhouse.products.actions.products import data_of
from tillhouse.products.configuration import Configuration, of_product
from tillhouse.products.events import PRODUCT_CREATED, PRODUCT_UPDATED
from tillhouse.products.sheet import Lot, Owner, Planner, ProductPlan, ProductRow
from tillhouse.products.store import categories as category_store
from tillhouse.products.store import facts as store
from tillhouse.products.store import products as product_store
from tillhouse.webhooks.emit import Source, emit_all_from

T = TypeVar("T")

# So many at a time: a statement stays far below its time limit.
_BATCH = 500


async def import_products(
    db: Db,
    origin: Source,
    rows: Sequence[ProductRow],
    now: datetime,
    done: Callable[[int], None],
) -> Imported:
    """Make and change products by their skus, in the caller's transaction; all, or none."""
    book_id = origin.book.id
    lots = sheet.lots_of(rows)
    currency = await find_currency(db, book_id)
    faults = sheet.sheet_faults(rows, lots, currency)
    categories = await _categories(db, book_id, rows, now)
    planner = await _planner(db, book_id, rows, categories)
    plans, more = _plans(planner, lots, {fault.row_no for fault in faults})
    faults += more
    if faults:
        # The first reason of a cell is enough.
        first = {(fault.row_no, fault.error.field): fault for fault in reversed(faults)}
        return Imported(faults=sorted(first.values(), key=lambda fault: fault.row_no))
    changed = [plan for plan in plans if plan.config != plan.old]
    done(len(plans) - len(changed))
    for batch in _batches(changed):
        await _write(db, origin, batch, now)
        done(len(batch))
    created = sum(1 for plan in changed if plan.old is None)
    return Imported(
        created=created, updated=len(changed) - created, unchanged=len(plans) - len(changed)
    )


async def _categories(
    db: Db, book_id: BookId, rows: Sequence[ProductRow], now: datetime
) -> dict[str, UUID]:
    """The categories of the rows; those that the book lacks are made, and go with a refusal."""
    names = list(dict.fromkeys(str(row.category) for row in rows if row.category is not None))
    found: dict[str, UUID] = {}
    for batch in _batches(names):
        await category_store.add_categories(db, book_id, [new_id() for _ in batch], batch, now)
        found |= await category_store.lock_categories(db, book_id, batch)
    return found


async def _planner(
    db: Db, book_id: BookId, rows: Sequence[ProductRow], categories: dict[str, UUID]
) -> Planner:
    products: dict[str, Owner] = {}
    variants: dict[str, Owner] = {}
    for batch in _batches([str(row.sku) for row in rows]):
        for sku, product_id, variant_id in await store.list_owners(db, book_id, batch):
            (products if variant_id is None else variants)[sku] = Owner(product_id, variant_id)
    configs: dict[UUID, Configuration] = {}
    ids = sorted({owner.product_id for owner in (*products.values(), *variants.values())})
    for batch in _batches(ids):
        await store.lock_products(db, book_id, batch)
        shown = await product_store.list_named(db, book_id, batch)
        configs |= {product.id: of_product(product) for product in shown}
    # A product that was deleted meanwhile is made anew.
    return Planner(
        rows=rows,
        products={sku: owner for sku, owner in products.items() if owner.product_id in configs},
        variants={sku: owner for sku, owner in variants.items() if owner.product_id in configs},
        configs=configs,
        categories=categories,
        ids=new_id,
    )


def _plans(
    planner: Planner, lots: Sequence[Lot], row_nos: set[int]
) -> tuple[list[ProductPlan], list[RowFault]]:
    """Plans for lots without a faulty place, and faults; two lots of one product are one."""
    plans: list[ProductPlan] = []
    faults: list[RowFault] = []
    seen: set[UUID] = set()
    for lot in lots:
        plan = planner.plan(lot) if row_nos.isdisjoint(lot.row_nos) else []
        if isinstance(plan, list):
            faults += plan
            continue
        if plan.config.id in seen:
            reason = "is of a product that earlier rows name otherwise"
            faults.append(sheet.wrong(lot.row_nos[0], "sku", reason))
        seen.add(plan.config.id)
        plans.append(plan)
    return plans, faults


async def _write(db: Db, origin: Source, plans: Sequence[ProductPlan], now: datetime) -> None:
    configs = [plan.config for plan in plans]
    await product_store.upsert_products(db, origin.book.id, configs, now)
    moment = iso(now)
    events = [
        (
            PRODUCT_CREATED if plan.old is None else PRODUCT_UPDATED,
            data_of(plan.config, moment),
        )
        for plan in plans
    ]
    await emit_all_from(db, origin, events, now)


def _batches(items: Sequence[T]) -> list[Sequence[T]]:
    return [items[start : start + _BATCH] for start in range(0, len(items), _BATCH)]
