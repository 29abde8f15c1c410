"""A provider's money, day by day: the provider's amounts beside the booked ones; pure decisions.

A thing counts on one day for both sides, that of the provider's moment, so that a payment of
midnight is no difference. A thing that was asked about by itself counts as it was answered then.

Booked is what the ledger has at `provider_clearing`: of a dispute what was left of its payment, of
a refund or a payout nothing before it has ended. A payment that went back before it was applied is
none there, and counts here as one that came and went.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.finance.reconciling.types import (
    MoneyDay,
    MovedMoney,
    OwnDispute,
    OwnPayment,
    OwnPayout,
    OwnRefund,
    ProviderDays,
    SeenMoney,
    Side,
)
from tillhouse.orders.returning.rules import refund_id_of
from tillhouse.providers.payments.provider import (
    PART,
    ListedRefund,
    SeenDispute,
    SeenPayment,
    SeenPayout,
)

_ZERO = Decimal(0)
_ARRIVED = ("successful", "reversed")
_CHARGED = ("completed", "reversed")


class _Thing(msgspec.Struct, frozen=True):
    """A payment, a refund, a dispute or a payout, by both sides."""

    at: datetime
    currency: str
    there: MovedMoney
    here: MovedMoney
    # The part that is recorded here and booked later.
    later: MovedMoney = MovedMoney()


def list_days(side: Side, currency: str) -> list[ProviderDays]:
    """The days of a time on which money moved, by currency; `currency` is the book's."""
    things: defaultdict[str, list[_Thing]] = defaultdict(list)
    seen = side.seen
    for part in (_payments(side, currency), _refunds(seen, currency), _payouts(seen, currency),
                 _disputes(seen)):  # fmt: skip
        for thing in part:
            if side.since <= thing.at < side.until and (thing.there, thing.here) != _NOTHING:
                things[thing.currency].append(thing)
    return [_of_currency(side, name, things[name]) for name in sorted(things)]


_NOTHING = (MovedMoney(), MovedMoney())


def _of_currency(side: Side, currency: str, things: Sequence[_Thing]) -> ProviderDays:
    by_day: defaultdict[date, list[_Thing]] = defaultdict(list)
    for thing in things:
        by_day[thing.at.astimezone(UTC).date()].append(thing)
    days: list[MoneyDay] = []
    there_now = here_now = _ZERO
    for day, those in sorted(by_day.items()):
        there, here = _sum([one.there for one in those]), _sum([one.here for one in those])
        there_now, here_now = there_now + total(there), here_now + total(here)
        days.append(
            MoneyDay(
                day=day,
                at_provider=there,
                booked=here,
                provider_balance=there_now,
                booked_balance=here_now,
                difference=total(there) - total(here),
                to_book=_sum([one.later for one in those]),
            )
        )
    return ProviderDays(
        business_id=side.origin.business_id,
        environment=side.origin.book.environment,
        provider=side.origin.provider,
        currency=currency,
        days=days,
        first_difference=next((one.day for one in days if one.at_provider != one.booked), None),
    )


def total(moved: MovedMoney) -> Decimal:
    """All that moved, together."""
    return sum(msgspec.structs.astuple(moved), _ZERO)


def _sum(moved: Sequence[MovedMoney]) -> MovedMoney:
    columns = zip(*(msgspec.structs.astuple(one) for one in moved), strict=True)
    names = MovedMoney.__struct_fields__
    return MovedMoney(**{name: sum(of, _ZERO) for name, of in zip(names, columns, strict=True)})


def _payments(side: Side, currency: str) -> Iterator[_Thing]:
    seen, backs = side.seen, _backs(side.seen)
    for name in dict.fromkeys([*seen.payments, *seen.own_payments]):
        own = seen.own_payments.get(name, ())
        told = [one for one in seen.payments.get(name, ()) if one.state in _ARRIVED and one.amount]
        if name in seen.foreign or not (own or told):
            continue
        at = next((one.paid_at for one in told if one.paid_at is not None), None)
        at = at or (own[0].paid_at if own else None)
        is_before = side.connected_at is not None and at is not None and at < side.connected_at
        if at is None or (is_before and not own):
            continue
        there = MovedMoney(
            payments=sum((one.amount for one in told), _ZERO),
            fees=-sum((one.fee - one.returned_fee for one in told), _ZERO),
            refunds=-_gone_there(backs, name, told),
        )
        name_of_currency = (told or own)[0].currency or currency
        yield _Thing(at, name_of_currency, there, _booked(own), _to_apply(own))


def _booked(own: Sequence[OwnPayment]) -> MovedMoney:
    return MovedMoney(
        payments=sum((one.amount for one in own if one.is_applied), _ZERO),
        fees=-sum((one.fee - one.returned_fee for one in own), _ZERO),
        refunds=-sum((one.returned_applied for one in own), _ZERO),
    )


def _to_apply(own: Sequence[OwnPayment]) -> MovedMoney:
    """The part that its target books, once it takes it or gives it back."""
    return MovedMoney(
        payments=sum((one.amount for one in own if not one.is_applied), _ZERO),
        refunds=-sum((one.returned_amount - one.returned_applied for one in own), _ZERO),
    )


class _Backs(msgspec.Struct, frozen=True):
    """The sums that the provider lists as given back and disputed, by payment."""

    ours: defaultdict[str, Decimal]
    others: defaultdict[str, Decimal]
    held: defaultdict[str, Decimal]


def _backs(seen: SeenMoney) -> _Backs:
    backs = _Backs(defaultdict(Decimal), defaultdict(Decimal), defaultdict(Decimal))
    for line, own in _lines(seen):
        if line.state != "failed":
            side = backs.others if own is None else backs.ours
            side[(line.transaction_id or "").partition(PART)[0]] += line.amount
    for dispute in seen.disputes.values():
        backs.held[dispute.transaction_id or ""] += dispute.taken
    return backs


def _lines(seen: SeenMoney) -> list[tuple[ListedRefund, OwnRefund | None]]:
    """The lines of the provider's list of refunds, each with ours, if it is one."""
    own: dict[UUID | None, OwnRefund] = {**seen.own_refunds}
    theirs = {one.provider_refund_id: one for one in own.values() if one.provider_refund_id}
    return [
        (line, own.get(refund_id_of(line.reference)) or theirs.get(line.provider_reference))
        for line in seen.refunds.values()
    ]


def _gone_there(backs: _Backs, name: str, told: Sequence[SeenPayment]) -> Decimal:
    """The part of a transaction that went back, but for refunds of ours and disputes."""
    if _is_undone(told):
        return max(_whole(told) - backs.ours[name], backs.others[name])
    known = sum((one.returned or _ZERO for one in told), _ZERO)
    return max(known, backs.others[name])


def _gone_as_disputed(seen: SeenMoney, backs: _Backs, name: str) -> Decimal:
    """The part that went back with a transaction, so that its disputes took none of it.

    A provider that undoes a payment takes it once. The books have it as gone back, and what they
    had of its disputes gives way to that.
    """
    if told := seen.payments.get(name):
        if not _is_undone(told):
            return _ZERO
        left = _whole(told) - backs.ours[name] - backs.others[name]
        return min(backs.held[name], max(left, _ZERO))
    # It is from before the time, and is not told of any more.
    own = seen.own_payments.get(name, ())
    gone = sum((one.returned_amount for one in own if one.status == "reversed"), _ZERO)
    return min(backs.held[name], gone)


def _is_undone(told: Sequence[SeenPayment]) -> bool:
    return any(one.state == "reversed" for one in told)


def _whole(told: Sequence[SeenPayment]) -> Decimal:
    return sum((one.amount for one in told if one.state in _ARRIVED), _ZERO)


def _refunds(seen: SeenMoney, currency: str) -> Iterator[_Thing]:
    """Refunds of ours; those of others are counted with their payment."""
    lines = {own.id: line for line, own in _lines(seen) if own is not None}
    for one in seen.own_refunds.values():
        line = lines.get(one.id)
        at = (line.at if line is not None else None) or one.asked_at
        if at is None:
            continue
        there = line.amount if line is not None and line.state != "failed" else _ZERO
        here = one.amount - one.taken_before if one.status == "successful" else _ZERO
        is_on_its_way = line is not None and line.state == one.status == "pending"
        yield _Thing(
            at,
            currency,
            MovedMoney(refunds=-there),
            MovedMoney(refunds=-here),
            MovedMoney(refunds=-one.amount if is_on_its_way else _ZERO),
        )


def _payouts(seen: SeenMoney, currency: str) -> Iterator[_Thing]:
    for name in dict.fromkeys([*seen.payouts, *seen.own_payouts]):
        line, own = seen.payouts.get(name), seen.own_payouts.get(name)
        at = (line.at if line is not None else None) or (own.sent_at if own is not None else None)
        if name in seen.foreign or at is None:
            continue
        there = here = later = MovedMoney()
        if line is not None:
            there = _paid_out_there(line, own)
        if own is not None:
            here = MovedMoney(
                payouts=-own.amount if own.status == "completed" else _ZERO, fees=-own.fee
            )
            if line is not None and line.state == own.status == "processing":
                later = MovedMoney(payouts=-own.amount)
        yield _Thing(at, currency, there, here, later)


def _paid_out_there(line: SeenPayout, own: OwnPayout | None) -> MovedMoney:
    """A provider keeps the fee of a payout that came back."""
    amount = line.amount if line.amount is not None else own.amount if own else _ZERO
    is_gone, is_charged = line.state in ("processing", "completed"), line.state in _CHARGED
    return MovedMoney(
        payouts=-amount if is_gone else _ZERO, fees=-line.fee if is_charged else _ZERO
    )


def _disputes(seen: SeenMoney) -> Iterator[_Thing]:
    """Disputes of payments that are recorded here."""
    backs, gone = _backs(seen), dict[str, Decimal]()
    for name in dict.fromkeys([*seen.disputes, *seen.own_disputes]):
        line, own = seen.disputes.get(name), seen.own_disputes.get(name)
        at = (line.opened_at if line is not None else None) or (own.opened_at if own else None)
        transaction = (line.transaction_id if line is not None else None) or (
            own.transaction if own is not None else ""
        )
        if at is None or not seen.own_payments.get(transaction):
            continue
        if transaction not in gone:
            gone[transaction] = _gone_as_disputed(seen, backs, transaction)
        of_it = min(gone[transaction], _ZERO if line is None else line.taken)
        gone[transaction] -= of_it
        yield _dispute(at, line, own, of_it)


def _dispute(
    at: datetime, line: SeenDispute | None, own: OwnDispute | None, gone: Decimal
) -> _Thing:
    """A dispute by both sides, of which so much went back with its payment."""
    there = here = MovedMoney()
    if line is not None:
        there = MovedMoney(disputes=gone - line.taken, fees=-line.fee)
    if own is not None:
        here = MovedMoney(disputes=-own.taken_amount, fees=-own.fee)
    currency = line.currency if line is not None else own.currency if own is not None else ""
    return _Thing(at, currency, there, here)
