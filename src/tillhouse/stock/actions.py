"""Stock: adjust, count, transfer, and look."""

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.access.callers import KeyCaller, SystemCaller, UserCaller
from tillhouse.kit.errors import FieldError, Refused, check
from tillhouse.kit.ids import new_id
from tillhouse.kit.page import PageOf, meta
from tillhouse.kit.partial import InvalidField
from tillhouse.stock import rules
from tillhouse.stock.facts import LevelKey, MovedStock, NotedStockMove, StockFacts
from tillhouse.stock.store import levels as store
from tillhouse.stock.store.facts import find_facts
from tillhouse.stock.store.moves import count_moves, list_moves
from tillhouse.stock.store.moving import insert_levels, record_moves
from tillhouse.stock.types import (
    LevelFilter,
    MoveFilter,
    NewAdjustment,
    NewCount,
    NewTransfer,
    StockLevel,
    StockLevels,
    StockMove,
)
from tillhouse.webhooks.emit import emit_all


async def list_page(call: Call, wanted: LevelFilter) -> PageOf[StockLevel]:
    """One page of the levels."""
    page = wanted.pick()
    total = await store.count_levels(call.db, call.book.id, wanted)
    return PageOf(await store.list_levels(call.db, call.book.id, wanted, page), meta(page, total))


async def list_moves_page(call: Call, wanted: MoveFilter) -> PageOf[StockMove]:
    """One page of the moves, the newest first."""
    page = wanted.pick()
    total = await count_moves(call.db, call.book.id, wanted)
    return PageOf(await list_moves(call.db, call.book.id, wanted, page), meta(page, total))


async def adjust(call: Call, new: NewAdjustment) -> StockLevel:
    """Change the stock on hand of one variant by so much."""
    await _keep_stores(call, new.store_id)
    facts = await _facts(call, [new], new.store_id)
    check(rules.adjustment_faults(new, facts))
    key = LevelKey(new.variant_id, new.store_id)
    await ensure_levels(call, [key])
    change = rules.change_of(new)
    move = _noted(call, key, new.kind, change, new.reason, allows=new.allow_negative)
    await _moved(call, [move], facts)
    return (await store.list_levels_at(call.db, call.book.id, [key]))[0]


async def adjustment_faults(call: Call, new: NewAdjustment) -> list[FieldError]:
    """Everything that speaks against the adjustment."""
    return rules.adjustment_faults(new, await _facts(call, [new], *_given(new, "store_id")))


async def count(call: Call, new: NewCount) -> StockLevels:
    """Set the stock on hand to a count; the difference to the assumed stock is noted."""
    await _keep_stores(call, new.store_id)
    facts = await _facts(call, new.items, new.store_id)
    check(rules.count_faults(new, facts))
    keys = [LevelKey(item.variant_id, new.store_id) for item in new.items]
    await ensure_levels(call, keys)
    thought = await store.lock_on_hand(call.db, call.book.id, keys)
    counted = {LevelKey(item.variant_id, new.store_id): item.counted for item in new.items}
    moves = [
        _noted(call, key, "count", counted[key] - thought[key], new.reason, allows=True)
        for key in keys
    ]
    await _moved(call, moves, facts)
    return StockLevels(await store.list_levels_at(call.db, call.book.id, keys))


async def count_faults(call: Call, new: NewCount) -> list[FieldError]:
    """Everything that speaks against the count."""
    items = [item for given in _given(new, "items") for item in given]
    return rules.count_faults(new, await _facts(call, items, *_given(new, "store_id")))


async def transfer(call: Call, new: NewTransfer) -> StockLevels:
    """Take from one place and put into another."""
    await _keep_stores(call, new.to_store_id)
    facts = await _facts(call, new.items, new.to_store_id, leaving=new.from_store_id)
    check(rules.transfer_faults(new, facts))
    moves: list[NotedStockMove] = []
    for item in new.items:
        here = LevelKey(item.variant_id, new.from_store_id)
        there = LevelKey(item.variant_id, new.to_store_id)
        moves.append(_noted(call, here, "transfer", -item.quantity, new.reason))
        moves.append(_noted(call, there, "transfer", Decimal(item.quantity), new.reason))
    keys = list(dict.fromkeys(LevelKey(move.variant_id, move.store_id) for move in moves))
    await ensure_levels(call, keys)
    await _moved(call, moves, facts)
    return StockLevels(await store.list_levels_at(call.db, call.book.id, keys))


async def transfer_faults(call: Call, new: NewTransfer) -> list[FieldError]:
    """Everything that speaks against the transfer."""
    items = [item for given in _given(new, "items") for item in given]
    leaving = next(iter(_given(new, "from_store_id")), None)
    facts = await _facts(call, items, *_given(new, "to_store_id"), leaving=leaving)
    return rules.transfer_faults(new, facts)


async def ensure_levels(call: Call, keys: Sequence[LevelKey]) -> None:
    """Make the levels that are missing, at zero, so that a move finds them."""
    await insert_levels(call.db, call.book.id, call.now, [(new_id(), key) for key in keys])


def actor(call: Call) -> dict[str, Any]:
    """The caller, as a move remembers who made it."""
    match call.caller:
        case KeyCaller(key_id=id_, name=name):
            return {"type": "key", "id": id_, "name": name}
        case UserCaller(user_id=id_, name=name):
            return {"type": "user", "id": id_, "name": name}
        case SystemCaller(name=name):
            return {"type": "system", "id": None, "name": name}


async def _moved(call: Call, moves: list[NotedStockMove], facts: StockFacts) -> list[MovedStock]:
    moved = await record_moves(call.db, call.book.id, call.now, moves)
    if shorts := rules.shorts(moved):
        raise Refused(" ".join(one.sentence(facts.name(one.variant_id)) for one in shorts))
    await emit_all(call, rules.events(moved, call.business_id, call.now))
    return moved


def _noted(
    call: Call,
    key: LevelKey,
    kind: str,
    change: Decimal,
    reason: str | None,
    *,
    allows: bool = False,
) -> NotedStockMove:
    return NotedStockMove(
        id=new_id(),
        variant_id=key.variant_id,
        store_id=key.store_id,
        kind=kind,
        on_hand_change=change,
        reason=reason,
        actor=actor(call),
        allows=allows,
    )


async def _keep_stores(call: Call, *stores: UUID | None) -> None:
    """Let no store be deleted under stock that comes to it; one that is gone the rules refuse."""
    named = [id_ for id_ in stores if id_ is not None]
    if named:
        await store.lock_kept_stores(call.db, call.book.id, named)


async def _facts(
    call: Call, items: Sequence[Any], *stores: UUID | None, leaving: UUID | None = None
) -> StockFacts:
    variants = [variant for item in items for variant in _given(item, "variant_id")]
    named = [id_ for id_ in stores if id_ is not None]
    return await find_facts(call.db, call.book.id, variants, named, leaving)


def _given(body: Any, name: str) -> list[Any]:
    """A field's value, or nothing where it is wrong."""
    with suppress(InvalidField):
        return [getattr(body, name)]
    return []
