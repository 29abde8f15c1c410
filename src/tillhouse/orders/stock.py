"""The stock that orders take, give back, and take again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import OrderId, VariantId, new_id
from tillhouse.orders.changing.rules import OrderState, StockState
from tillhouse.orders.changing.store import Holding, list_holdings
from tillhouse.orders.recording.rules.figures import ZERO
from tillhouse.orders.recording.rules.sale import Need, Sale, StockOfPast
from tillhouse.orders.refunds.store import list_line_stock
from tillhouse.stock.actions import actor, ensure_levels
from tillhouse.stock.facts import LevelKey, MovedStock, NotedStockMove
from tillhouse.stock.rules import UNCOUNTABLE, is_uncountable, shorts
from tillhouse.stock.store.moves import list_counted_since
from tillhouse.stock.store.moving import find_results, record_moves


def moves(
    call: Call, needs: Iterable[Need], items: Sequence[Mapping[str, Any]], *, reserves: bool
) -> list[dict[str, Any]]:
    """The moves of a new order: it takes sold stock, and reserves promised stock."""
    by = actor(call)
    return [
        {
            "id": new_id(),
            "variant_id": need.variant.id,
            "store_id": need.store_id,
            "kind": "reservation" if reserves else "sale",
            "on_hand_change": ZERO if reserves else -need.quantity,
            "reserved_change": need.quantity if reserves else ZERO,
            "order_id": items[need.line]["order_id"],
            "order_item_id": items[need.line]["id"],
            "actor": by,
            "allows": need.allows,
        }
        for need in needs
    ]


async def open_levels(call: Call, needs: Iterable[Need]) -> None:
    """Open a level at zero for each variant without one, so that there is a row to judge by."""
    keys = {
        LevelKey(need.variant.id, need.store_id) for need in needs if not need.variant.has_level
    }
    if keys:
        await ensure_levels(call, list(keys))


async def reason_against_moves(
    call: Call, needs: Sequence[Need], moves: Sequence[Mapping[str, Any]]
) -> str | None:
    """Why these moves of a new order could not be made now; read without a lock."""
    noted = [NotedStockMove(**move) for move in moves]
    found = await find_results(call.db, call.book.id, noted) if noted else []
    if any(map(is_uncountable, found)):
        return UNCOUNTABLE
    return shortage(found, names_of(needs))


def names_of(needs: Iterable[Need]) -> dict[VariantId, str]:
    """The name of each variant."""
    return {need.variant.id: _name(need) for need in needs}


async def left_alone(call: Call, sale: Sale, how: StockOfPast) -> Sale:
    """The sale with the stock that it takes today; one of the past may have gone before a count."""
    if not sale.is_import or how == "take":
        return sale
    if how == "leave":
        return msgspec.structs.replace(sale, needs=[])
    variants = list({need.variant.id for need in sale.needs})
    counted = await list_counted_since(call.db, call.book.id, variants, sale.occurred_at)
    needs = [one for one in sale.needs if LevelKey(one.variant.id, one.store_id) not in counted]
    return msgspec.structs.replace(sale, needs=needs)


def _name(need: Need) -> str:
    variant = need.variant
    if variant.is_implicit:
        return variant.product_name
    return f"{variant.product_name} ({variant.name})"


def shortage(moved: Iterable[MovedStock], names: Mapping[VariantId, str]) -> str | None:
    """The shortages in sentences; None when there was enough of everything."""
    short = [one.sentence(names.get(one.variant_id)) for one in shorts(moved)]
    return " ".join(short) or None


async def shift(
    call: Call, order: OrderState, after: OrderState, goal: StockState
) -> tuple[OrderState, list[MovedStock]]:
    """Bring the stock of the lines to the goal: the order with this noted, and the moves."""
    if order.stock_state == goal:
        return after, []
    holdings = await list_holdings(call.db, call.book.id, OrderId(order.id))
    if not holdings:
        return after, []
    is_new_round = order.stock_state == "none" or goal == "reserved"
    after = msgspec.structs.replace(
        after, stock_round=after.stock_round + is_new_round, stock_state=goal
    )
    moved = await record_moves(
        call.db, call.book.id, call.now, list(_shifts(call, order, after, holdings))
    )
    names = {holding.variant_id: holding.product_name for holding in holdings}
    if short := shortage(moved, names):
        raise Refused(short)
    return after, moved


async def give_back(
    call: Call, order: OrderState, quantities: Mapping[UUID, Decimal]
) -> list[MovedStock]:
    """Give back the stock of so many of some lines."""
    by = actor(call)
    moves = [
        NotedStockMove(
            id=new_id(),
            variant_id=one.variant_id,
            store_id=one.store_id,
            kind="return",
            on_hand_change=one.each * quantities[one.order_item_id],
            reserved_change=ZERO,
            order_id=OrderId(order.id),
            order_item_id=one.order_item_id,
            round=order.stock_round,
            actor=by,
            allows=True,
        )
        for one in await list_line_stock(call.db, call.book.id, OrderId(order.id))
        if one.order_item_id in quantities
    ]
    return await record_moves(call.db, call.book.id, call.now, moves) if moves else []


def _shifts(
    call: Call, order: OrderState, after: OrderState, holdings: Iterable[Holding]
) -> Iterator[NotedStockMove]:
    by = actor(call)
    for holding in (one for one in holdings if one.quantity):
        policy = holding.stock_policy or order.stock_policy
        for kind, on_hand, reserved, round_ in _steps(order, after):
            yield NotedStockMove(
                id=new_id(),
                variant_id=holding.variant_id,
                store_id=holding.store_id,
                kind=kind,
                on_hand_change=on_hand * holding.quantity,
                reserved_change=reserved * holding.quantity,
                order_id=OrderId(order.id),
                order_item_id=holding.order_item_id,
                round=round_,
                actor=by,
                allows=order.is_import or policy == "allow",
            )


def _steps(order: OrderState, after: OrderState) -> list[tuple[str, int, int, int]]:
    """Kinds of moves with their signs on hand and reserved, and the round that each is of."""
    now, later = order.stock_round, after.stock_round
    steps = {
        ("reserved", "taken"): [("sale", -1, -1, now)],
        ("reserved", "none"): [("release", 0, -1, now)],
        ("taken", "none"): [("restore", 1, 0, now)],
        ("taken", "reserved"): [("restore", 1, 0, now), ("reservation", 0, 1, later)],
        ("none", "taken"): [("sale", -1, 0, later)],
        ("none", "reserved"): [("reservation", 0, 1, later)],
    }
    return steps[order.stock_state, after.stock_state]
