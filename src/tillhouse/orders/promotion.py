"""Promotions on orders: judged, counted, given back."""

from collections.abc import Sequence
from datetime import datetime

from tillhouse.access.call import Call
from tillhouse.kit.errors import FieldError, Refused
from tillhouse.kit.ids import CustomerId, PromotionId
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.recording.rules.lines import PricedLine
from tillhouse.orders.recording.rules.totals import discounted, product_lines
from tillhouse.promotions.facts import PromotedLine as OfferedLine
from tillhouse.promotions.rules import judge
from tillhouse.promotions.store.uses import find_offer, give_back, take_use

USED_UP = "The promotion has been used as often as it may be."


async def faults(call: Call, promotion_id: PromotionId | None) -> list[FieldError]:
    """Whether the book has the promotion."""
    if promotion_id is None:
        return []
    if await find_offer(call.db, call.book.id, promotion_id, None) is not None:
        return []
    return [FieldError("promotion_id", "is no promotion of this book")]


async def apply(
    call: Call,
    promotion_id: PromotionId,
    lines: Sequence[PricedLine],
    customer_id: CustomerId | None,
    at: datetime,
) -> list[PricedLine] | str:
    """The lines with the promotion taken off, or why not; the use isn't counted yet."""
    offer = await find_offer(call.db, call.book.id, promotion_id, customer_id)
    if offer is None:
        return "The promotion is gone."
    sold = product_lines(lines)
    judged = judge(offer, [_offered(lines[index]) for index in sold], customer_id, at)
    if isinstance(judged, str):
        return judged
    return discounted(lines, dict(zip(sold, judged.shares, strict=True)))


async def count(call: Call, promotion_id: PromotionId, customer_id: CustomerId | None) -> bool:
    """Count the use, if one is left; late in the transaction, as others wait for it."""
    return await take_use(call.db, call.book.id, promotion_id, customer_id)


async def follow(call: Call, before: OrderState, after: OrderState) -> None:
    """Give a use back when its order is over, and take it again when it isn't any more."""
    if before.promotion_id is None:
        return
    was_over = before.status == "cancelled"
    is_over = after.status == "cancelled" or after.deleted_at is not None
    use = (call.book.id, before.promotion_id, before.promotion_customer_id)
    if is_over and not was_over:
        await give_back(call.db, *use)
    elif was_over and not is_over and not await take_use(call.db, *use):
        raise Refused(USED_UP)


def _offered(one: PricedLine) -> OfferedLine:
    return OfferedLine(
        product_id=one.product.id if one.product else None,
        category_id=one.product.category_id if one.product else None,
        net=one.net,
        quantity=one.quantity,
        unit_price=one.unit_price,
    )
