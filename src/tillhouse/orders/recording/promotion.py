"""Promotions on new orders: judged and counted."""

from collections.abc import Sequence
from datetime import datetime

from tillhouse.access.call import Call
from tillhouse.kit.errors import FieldError
from tillhouse.kit.ids import CustomerId, PromotionId
from tillhouse.orders.recording.rules.figures import PricedLine, discounted, product_lines
from tillhouse.promotions.facts import PromotedLine as OfferedLine
from tillhouse.promotions.rules import judge
from tillhouse.promotions.store.uses import find_offer, take_use

USED_UP = "The promotion has been used as often as it may be."


async def faults(call: Call, promotion_id: PromotionId) -> list[FieldError]:
    """Whether the book has the promotion."""
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


def _offered(one: PricedLine) -> OfferedLine:
    return OfferedLine(
        product_id=one.product.id if one.product else None,
        category_id=one.product.category_id if one.product else None,
        net=one.net,
        quantity=one.quantity,
        unit_price=one.unit_price,
    )
