"""Record a sale: everything about it in one transaction, which other sales may share."""

from contextlib import suppress
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.customers.actions import find_or_create
from tillhouse.customers.types import WantedCustomer
from tillhouse.http.answer import envelope
from tillhouse.http.route import Reply
from tillhouse.kit.errors import FieldError, Invalid, KeyReused, Missing, Problem, check
from tillhouse.kit.ids import CustomerId, OrderId, PromotionId
from tillhouse.kit.partial import InvalidField
from tillhouse.kitchen.types import NotificationSending
from tillhouse.labels.actions import tag_ids
from tillhouse.orders import announce, stock
from tillhouse.orders.changing.credit import reason_against_spending
from tillhouse.orders.deposits import beginning as deposits
from tillhouse.orders.kitchen.actions import tell_of_new
from tillhouse.orders.recording import promotion
from tillhouse.orders.recording.entry import entry_of
from tillhouse.orders.recording.facts import Earlier, RecordingFacts
from tillhouse.orders.recording.named import (
    arrival,
    facts_of,
    insert_with_newcomers,
    is_unknown,
    newcomer_of,
)
from tillhouse.orders.recording.rules import answer as fresh
from tillhouse.orders.recording.rules import sale as rules
from tillhouse.orders.recording.rules.figures import PricedLine, occurrence
from tillhouse.orders.recording.rules.sale import Sale, StockOfPast
from tillhouse.orders.recording.store.record_statement import (
    BookCurrency,
    KeptAnswer,
    OrderResult,
    OrderRows,
    OrderToRecord,
    insert_order,
)
from tillhouse.orders.recording.store.stays import lock_stay
from tillhouse.orders.showing import show
from tillhouse.orders.storage.quota import ORDERS
from tillhouse.orders.types import CustomerShown, NewOrder, Order
from tillhouse.stock.rules import events
from tillhouse.webhooks.emit import emit_all, note_told, prepare, source

# The answer says it, which is kept with the key in the statement that writes the order.
RECORDED = "Order recorded"
# The catalog's names, modifiers and components of all lines: 500 lines of a product have half.
ITEMS_BYTES_MAX = 512 * 1024
TOO_LARGE = "come to more than 512 KiB with their modifiers and components: make several orders"


class NotRecorded(
    Problem,
    kind="refused",
    code="order_not_recorded",
    message="The order can't be recorded as things stand.",
):
    """A rule of the business refuses a sale."""


async def new_faults(call: Call, new: NewOrder) -> list[FieldError]:
    """Everything that is wrong with a new order, also of a wrong form."""
    facts = await facts_of(call, new)
    found = rules.new_faults(new, facts, call.now)
    with suppress(InvalidField):
        if new.promotion_id is not None:
            found += await promotion.faults(call, new.promotion_id)
    return found


class RecordedOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The order, and how it came about."""

    order: Order
    # An earlier request had recorded it.
    is_replay: bool = False
    # Its answer, where it is kept with the idempotency key already.
    kept: bytes | None = None
    # The work left after the commit.
    sending: NotificationSending | None = None


async def create(call: Call, new: NewOrder, stock_of_past: StockOfPast = "auto") -> RecordedOrder:
    """Record the order, unless an earlier request with the same key did."""
    facts = await facts_of(call, new)
    if facts.earlier is not None:
        return RecordedOrder(order=await _earlier(call, facts.earlier), is_replay=True)
    lines = await judged(call, new, facts)
    if facts.stay is not None:
        # A payment and the end of a stay lock it first, and sums of the ledger then.
        await lock_stay(call.db, call.book.id, facts.stay.id)
    tags = await tag_ids(call, [str(tag) for tag in new.tags]) if new.tags else []
    if is_unknown(new, facts) and (made := await _with_newcomer(call, new, facts, lines, tags)):
        return made
    customer_id = await _customer_id(call, new, facts)
    sale = await decided(call, new, facts, lines, customer_id)
    sale = await stock.left_alone(call, sale, stock_of_past)
    entry = entered(call, new, facts, sale, customer_id)
    entry.order["tag_ids"] = tags
    return await _record(call, facts, sale, entry)


async def judged(call: Call, new: NewOrder, facts: RecordingFacts) -> list[PricedLine]:
    """The lines with their prices, of an order that nothing known so far speaks against."""
    call.services.storage.check(ORDERS.name, call.book.id)
    found, lines = rules.judge(new, facts, call.now)
    if new.promotion_id is not None:
        found += await promotion.faults(call, new.promotion_id)
    check(found)
    if reason := await reason_against(call, new, facts):
        raise NotRecorded(reason)
    return lines


async def decided(
    call: Call,
    new: NewOrder,
    facts: RecordingFacts,
    lines: list[PricedLine],
    customer_id: CustomerId | None,
) -> Sale:
    """The sale of lines that were judged, with the promotion that it names."""
    if new.promotion_id is not None:
        lines = await _discounted(call, new, new.promotion_id, lines, customer_id)
    return _decided(call, new, facts, lines)


async def record_lines(
    call: Call, new: NewOrder, facts: RecordingFacts, lines: list[PricedLine], more: dict[str, UUID]
) -> RecordedOrder:
    """Record an order whose lines were judged, for a customer who is there; with more columns."""
    if reason := await reason_against(call, new, facts):
        raise NotRecorded(reason)
    customer_id = await _customer_id(call, new, facts)
    sale = _decided(call, new, facts, lines)
    entry = entered(call, new, facts, sale, customer_id)
    entry.order.update(tag_ids=[], **more)
    return await _record(call, facts, sale, entry)


def _decided(call: Call, new: NewOrder, facts: RecordingFacts, lines: list[PricedLine]) -> Sale:
    sale = rules.decide(new, facts, lines, call.now)
    against = rules.reason_against_needs(sale.needs) or rules.reason_against_credit(new, sale)
    if against:
        raise NotRecorded(against)
    return sale


def entered(
    call: Call, new: NewOrder, facts: RecordingFacts, sale: Sale, customer_id: CustomerId | None
) -> OrderRows:
    """The rows of a sale, unless they are too large."""
    entry = entry_of(call, new, facts, sale, customer_id)
    if entry.items_bytes > ITEMS_BYTES_MAX:
        raise Invalid.field("items", TOO_LARGE)
    return entry


async def _customer_id(call: Call, new: NewOrder, facts: RecordingFacts) -> CustomerId | None:
    if facts.customer is not None:
        return CustomerId(facts.customer.id)
    if new.customer_name is None:
        return None
    return (await find_or_create(call, WantedCustomer(name=str(new.customer_name))))[0]


async def _with_newcomer(
    call: Call, new: NewOrder, facts: RecordingFacts, lines: list[PricedLine], tags: list[UUID]
) -> RecordedOrder | None:
    """The order and its new customer, if one statement can make both."""
    if not call.db.can_write_once or new.promotion_id is not None:
        return None
    newcomer = newcomer_of(new)
    facts = msgspec.structs.replace(facts, customer=newcomer)
    sale = _decided(call, new, facts, lines)
    entry = entered(call, new, facts, sale, CustomerId(newcomer.id))
    entry.order["tag_ids"] = tags
    await _check_credit(call, sale, entry)
    await stock.open_levels(call, sale.needs)
    order, recording = _prepared(call, facts, sale, entry, newcomer)
    return await _shared(call, facts, order, recording)


async def _discounted(
    call: Call,
    new: NewOrder,
    promotion_id: PromotionId,
    lines: list[PricedLine],
    customer_id: CustomerId | None,
) -> list[PricedLine]:
    """The lines with the promotion taken off."""
    at = occurrence(new, call.now)
    applied = await promotion.apply(call, promotion_id, lines, customer_id, at)
    if isinstance(applied, str):
        raise NotRecorded(applied)
    check(list(rules.discount_errors(new.discount_amount, applied)))
    return applied


async def _record(call: Call, facts: RecordingFacts, sale: Sale, entry: OrderRows) -> RecordedOrder:
    """Write it, and see to it that all of it could be had."""
    await check_payment(call, facts, sale, entry)
    await stock.open_levels(call, sale.needs)
    order, recording = _prepared(call, facts, sale, entry)
    if shared := await _shared(call, facts, order, recording):
        return shared
    written = await insert_order(call.db, _in_book(call, facts), recording)
    note_told(call.db, call.book.id, written.queued)
    await _follow(call, facts, sale, entry, written)
    if has_deposit(entry, sale):
        await deposits.begin(call, entry.id)
    sending = await _tell_kitchen(call, facts, entry)
    kept = recording.kept
    return RecordedOrder(
        order=order or await show(call, OrderId(entry.id)),
        kept=kept and kept.answer,
        sending=sending,
    )


def _prepared(
    call: Call,
    facts: RecordingFacts,
    sale: Sale,
    entry: OrderRows,
    newcomer: CustomerShown | None = None,
) -> tuple[Order | None, OrderToRecord]:
    """The order as it is shown, if the facts have all of it; and all that is written of it."""
    order = None
    if fresh.knows(entry.order, facts) and not has_deposit(entry, sale):
        order = fresh.shown(entry.order, entry.items, entry.payment, facts, call.now)
    happened = announce.created(call, entry, sale)
    if newcomer is not None:
        happened.insert(0, arrival(call, newcomer))
    # Each thing that is taken may be running low, and be the last of its kind.
    told = prepare(source(call), happened, call.now, followed_by=2 * len(entry.moves))
    return order, OrderToRecord(call.now, entry, told, _kept(call, order), newcomer)


async def _shared(
    call: Call, facts: RecordingFacts, order: Order | None, recording: OrderToRecord
) -> RecordedOrder | None:
    """The order as written in a batch; None when it has to be written by itself."""
    entry, kept = recording.entry, recording.kept
    if (
        order is not None
        and _is_all(call, facts, entry, kept)
        and await call.services.batcher.write(
            call.db,
            insert_with_newcomers,
            _in_book(call, facts),
            recording,
            weight=len(entry.items),
        )
    ):
        return RecordedOrder(order=order, kept=kept and kept.answer)
    return None


def has_deposit(entry: OrderRows, sale: Sale) -> bool:
    """Whether the order is paid into an account of its own, which is opened after the commit."""
    outstanding = sale.totals.total - sale.amount_paid
    return not sale.is_import and deposits.is_wanted(
        entry.order["payment_method"], sale.status, outstanding
    )


async def check_payment(call: Call, facts: RecordingFacts, sale: Sale, entry: OrderRows) -> None:
    """Refuse an order that can't be paid the way that it says."""
    if has_deposit(entry, sale):
        await _check_deposit(call, facts, sale)
    await _check_credit(call, sale, entry)


async def _check_deposit(call: Call, facts: RecordingFacts, sale: Sale) -> None:
    """Refuse an order for which no provider would open an account."""
    outstanding = sale.totals.total - sale.amount_paid
    if reason := await deposits.reason_against_account(call, facts.trade.currency, outstanding):
        raise NotRecorded(reason)


async def _check_credit(call: Call, sale: Sale, entry: OrderRows) -> None:
    """Refuse an order that is paid by more credit than its customer has."""
    customer_id, method = entry.order["customer_id"], entry.order["payment_method"]
    if method != "credit" or customer_id is None or sale.amount_paid <= 0:
        return
    if reason := await reason_against_spending(call, customer_id, sale.amount_paid):
        raise NotRecorded(reason)


def _in_book(call: Call, facts: RecordingFacts) -> BookCurrency:
    return call.book.id, facts.trade.currency


def _is_all(call: Call, facts: RecordingFacts, entry: OrderRows, kept: KeptAnswer | None) -> bool:
    """Whether one statement can be all that is written, should nothing come between."""
    return (
        call.db.can_write_once
        and (call.claim is None or kept is not None)
        and entry.order["promotion_id"] is None
        and not (entry.has_ticket and facts.tells_queued)
    )


async def _follow(
    call: Call, facts: RecordingFacts, sale: Sale, entry: OrderRows, written: OrderResult
) -> None:
    """Refuse what could not be had, count the promotion, and tell of what runs low."""
    if facts.session is not None and not written.is_seated:
        raise NotRecorded(rules.closed(facts.session))
    if facts.store is not None and not written.is_housed:
        raise NotRecorded(f"The store {facts.store.name} was deleted.")
    if short := stock.shortage(written.moved, stock.names_of(sale.needs)):
        raise NotRecorded(short)
    promotion_id, customer_id = entry.order["promotion_id"], entry.order["customer_id"]
    if promotion_id and not await promotion.count(call, promotion_id, customer_id):
        raise NotRecorded(promotion.USED_UP)
    await emit_all(call, events(written.moved, call.business_id, call.now))


def _kept(call: Call, order: Order | None) -> KeptAnswer | None:
    claim = call.claim
    if order is None or claim is None or claim.is_claimed:
        return None
    return KeptAnswer(claim.surface, claim.key, claim.fingerprint, envelope(Reply(order), RECORDED))


async def _tell_kitchen(
    call: Call, facts: RecordingFacts, entry: OrderRows
) -> NotificationSending | None:
    ticket_id = entry.order["ticket_id"]
    if ticket_id is None or not facts.tells_queued:
        return None
    return (await tell_of_new(call, entry.id, ticket_id)).sending


async def reason_against(call: Call, new: NewOrder, facts: RecordingFacts) -> str | None:
    """Why an order that is well formed isn't recorded all the same, as far as facts tell."""
    return rules.reason_against(new, facts) or await deposits.reason_against(
        call, new.payment_method, facts.trade.currency
    )


class OrderDeletedSince(
    Missing, message="The order that was recorded with this key has been deleted since."
):
    """The repeated order was deleted."""


async def _earlier(call: Call, earlier: Earlier) -> Order:
    """The order that the same request made long ago; another request with its key is a mistake."""
    if call.claim is None or earlier.fingerprint != call.claim.fingerprint.hex():
        raise KeyReused
    try:
        return await show(call, OrderId(earlier.id))
    except Missing:
        raise OrderDeletedSince from None
