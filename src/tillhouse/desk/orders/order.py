"""One order in words: its lines, its sums, its money and its history."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tillhouse.desk.frame.places import Frame
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import exact, named, quantity
from tillhouse.desk.orders.listing import payment_state

Data = Mapping[str, Any]
STAGES = ("queued", "preparing", "ready", "served")
_NEXT_STAGE: Mapping[str | None, str] = dict(pairwise(STAGES))
# Money may go back by another way than it came, but not by these.
_BACK_AS_IT_CAME = ("pos", "cloove_pay")
_BACK = ("cash", "transfer", *_BACK_AS_IT_CAME, "credit", "other")


class LineRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line of an order."""

    id: str
    name: str
    # Variant, choices, parts of a bundle.
    more: str
    price: str
    quantity: str
    total: str

    @property
    def title(self) -> str:
        """Its name with what was chosen: two of one name are told apart."""
        return ", ".join(filter(None, (self.name, self.more)))


class Sum(msgspec.Struct, frozen=True):
    """A sum below the lines; the strong ones are those that count."""

    label: str
    amount: str
    is_strong: bool = False


class MoneyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A payment, a refund or a dispute."""

    at: str
    when: str
    name: str
    more: str
    state: str
    amount: str


class Moment(msgspec.Struct, frozen=True):
    """Something that happened to the order."""

    text: str
    at: str
    when: str
    by: str
    is_good: bool = False


class DeliveryRow(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook about the order."""

    event: str
    # The last answer of the endpoint, or what went wrong.
    more: str
    state: str
    at: str
    when: str


class OrderShown(msgspec.Struct, frozen=True, kw_only=True):
    """An order as its page tells it."""

    id: str
    code: str
    name: str
    about: str
    status: str
    payment: str
    lines: list[LineRow]
    sums: list[Sum]
    payments: list[MoneyRow]
    refunds: list[MoneyRow]
    disputes: list[MoneyRow]
    # The amount that is paid, as forms send it with what they ask for.
    amount_paid: str
    # The amount that is still to be paid, as a form takes it; None when nothing is.
    to_collect: str | None
    to_collect_shown: str
    can_refund: bool
    # The methods by which money can go back, with what came by each.
    ways_back: list[tuple[str, str]]
    # The one by which all came; empty where there are several.
    way_back: str
    is_open: bool
    stage: str | None
    next_stage: str | None
    customer: Data | None
    facts: list[tuple[str, str]]
    history: list[Moment]


def shown(order: Data, frame: Frame) -> OrderShown:
    """The whole of an order."""
    currency = order["currency"]
    customer, stage = order["customer"], order["kitchenTicketStatus"]
    remaining = order["remainingAmount"]
    status, held = order["status"], _held(order)
    return OrderShown(
        id=order["id"],
        code=order["shortCode"],
        name=customer["name"] if customer else order["summary"],
        about=", ".join(_about(order, frame)),
        status=status,
        payment=payment_state(order["status"], order["paymentStatus"], order["refundedAmount"]),
        lines=[_line(one, currency) for one in order["items"]],
        sums=list(_sums(order)),
        payments=[_payment(one, order, frame) for one in order["payments"]],
        refunds=[_refund(one, order, frame) for one in order["refunds"]],
        disputes=[_dispute(one, order, frame) for one in order["disputes"]],
        amount_paid=str(order["amountPaid"]),
        to_collect=str(remaining) if remaining > 0 and status != "cancelled" else None,
        to_collect_shown=exact(remaining, currency),
        can_refund=order["amountPaid"] > 0,
        ways_back=list(_ways_back(order, held)),
        way_back=next(iter(held)) if len(held) == 1 else "",
        is_open=status in ("pending", "scheduled"),
        stage=stage,
        next_stage=_NEXT_STAGE.get(stage),
        customer=customer,
        facts=list(_facts(order)),
        # Of those of one moment the later told is the newer: an order is recorded, then paid.
        history=sorted(_history(order, frame), key=lambda one: one.at)[::-1],
    )


def delivery(one: Data, frame: Frame) -> DeliveryRow:
    """A webhook about the order, and how far it is."""
    status = one["responseStatus"]
    answer = f"{status} in {one['latencyMs']} ms" if status else one["errorMessage"] or ""
    is_tried_again = one["status"] == "failed" and one["nextAttemptAt"]
    return DeliveryRow(
        event=one["eventType"],
        more=", ".join(filter(None, (urlsplit(one["url"]).netloc, answer))),
        state="retrying" if is_tried_again else one["status"],
        at=one["updatedAt"],
        when=frame.when(one["updatedAt"]),
    )


def _about(order: Data, frame: Frame) -> Iterator[str]:
    yield frame.when(order["occurredAt"])
    yield named("channel", order["channel"])
    if order["serviceMode"]:
        yield named("service", order["serviceMode"])
    if order["tableLabel"]:
        yield order["tableLabel"]
    if order["store"]:
        yield order["store"]["name"]


def _line(line: Data, currency: str) -> LineRow:
    more = [line["variantName"], *(one["name"] for one in line["modifiers"])]
    more += [f"{quantity(one['quantity'])} × {one['name']}" for one in line["components"]]
    return LineRow(
        id=line["id"],
        name=line["productName"],
        more=", ".join(filter(None, more)),
        price=exact(line["unitPrice"], currency),
        quantity=quantity(line["quantity"]),
        total=exact(line["subtotalAmount"], currency),
    )


def _title(line: Data) -> str:
    """The goods of a line by one name."""
    variant = line["variantName"]
    return f"{line['productName']} ({variant})" if variant else line["productName"]


def _sums(order: Data) -> Iterator[Sum]:
    """Every sum that is not zero: they lead from the lines to what is still to be paid."""
    yield from sums_of_lines(order)
    yield from _moved(order)
    yield from _sum(order, "change", "changeAmount")
    yield from _kept_over(order)
    yield from _sum(order, "tip", "tipAmount")
    is_due = order["remainingAmount"] > 0
    yield from _sum(order, "to_collect", "remainingAmount", is_strong=is_due)


def sums_of_lines(order: Data) -> Iterator[Sum]:
    """The sums from the lines to the total, of an order or of the preview of one."""
    yield from _sum(order, "subtotal", "subtotalAmount")
    yield from _sum(order, "discount", "discountAmount", sign=-1)
    yield from _sum(order, "service_charge", "serviceChargeAmount")
    before_tax = (
        order["subtotalAmount"] - order["discountAmount"]
        + order["serviceChargeAmount"] + order.get("adjustmentAmount", 0)
    )  # fmt: skip
    is_on_top = order["totalAmount"] != before_tax
    if is_on_top:
        yield from _sum(order, "tax", "taxAmount")
    yield from _sum(order, "adjustment", "adjustmentAmount")
    yield from _sum(order, "total", "totalAmount", is_strong=True)
    if not is_on_top:
        yield from _sum(order, "tax_within", "taxAmount")


def _sum(
    order: Data, name: str, key: str, *, sign: int = 1, is_strong: bool = False
) -> Iterator[Sum]:
    """One sum, unless it is zero; no preview has an adjustment."""
    amount = order.get(key, 0)
    if amount or is_strong:
        label = sentence(f"order_page.{name}")
        yield Sum(label, exact(sign * amount, order["currency"]), is_strong)


def _moved(order: Data) -> Iterator[Sum]:
    """The money that was paid; where some of it went back, that too, and what is left of it."""
    paid, currency = order["amountPaid"], order["currency"]
    back = sum(one["amount"] for one in order["refunds"] if one["status"] == "successful")
    if paid or back:
        yield Sum(sentence("order_page.paid"), exact(paid + back, currency))
    if back:
        yield Sum(sentence("order_page.given_back"), exact(-back, currency))
        yield Sum(sentence("order_page.kept"), exact(paid, currency))


def _kept_over(order: Data) -> Iterator[Sum]:
    """The money kept above the total of a sale, as when this was lowered, and whose it is."""
    if order["status"] not in ("pending", "completed"):
        return
    sold = order["totalAmount"] - order["refundedAmount"]
    if (over := order["amountPaid"] - order["changeAmount"] - sold) > 0:
        name = "over_credit" if order["customer"] else "over_unknown"
        yield Sum(sentence(f"order_page.{name}"), exact(over, order["currency"]))


def _held(order: Data) -> dict[str, Any]:
    """The money that came by each method, less what went back by it."""
    held: dict[str, Any] = {}
    for sign, rows in ((1, order["payments"]), (-1, order["refunds"])):
        for one in rows:
            if one["status"] == "successful":
                held[one["method"]] = held.get(one["method"], 0) + sign * one["amount"]
    return {method: amount for method, amount in held.items() if amount > 0}


def _ways_back(order: Data, held: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for method in _BACK:
        name = named("method", method)
        if method in held:
            amount = exact(held[method], order["currency"])
            yield method, sentence("refund.came", method=name, amount=amount)
        elif method not in _BACK_AS_IT_CAME and (method != "credit" or order["customer"]):
            yield method, name


def _payment(payment: Data, order: Data, frame: Frame) -> MoneyRow:
    currency = order["currency"]
    more = [payment["reference"], payment["by"]["name"] if payment["by"] else None]
    if payment["tip"]:
        more.append(sentence("order_page.with_tip", amount=exact(payment["tip"], currency)))
    if payment["changeAmount"]:
        change = exact(payment["changeAmount"], currency)
        more.append(sentence("order_page.with_change", amount=change))
    if fee := (payment["providerMoney"] or {}).get("fee"):
        more.append(sentence("order_page.with_fee", amount=exact(fee, currency)))
    return _money(payment, frame, named("method", payment["method"]), more, order)


def _refund(refund: Data, order: Data, frame: Frame) -> MoneyRow:
    items = {one["id"]: one for one in order["items"]}
    lines = [one for one in refund["lines"] if one["itemId"] in items]
    more = [f"{quantity(one['quantity'])} × {_title(items[one['itemId']])}" for one in lines]
    more += [
        refund["reason"],
        refund["failureReason"],
        refund["by"]["name"] if refund["by"] else "",
    ]
    return _money(refund, frame, named("method", refund["method"]), more, order)


def _dispute(dispute: Data, order: Data, frame: Frame) -> MoneyRow:
    told = {**dispute, "at": dispute["openedAt"]}
    return _money(told, frame, sentence("order_page.dispute"), [dispute.get("reason")], order)


def _money(one: Data, frame: Frame, name: str, more: Sequence[str | None], order: Data) -> MoneyRow:
    return MoneyRow(
        at=one["at"],
        when=frame.when(one["at"]),
        name=name,
        more=", ".join(filter(None, more)),
        state=one["status"],
        amount=exact(one["amount"], order["currency"]),
    )


def _facts(order: Data) -> Iterator[tuple[str, str]]:
    for name, value in (
        ("recorded_by", (order["recordedBy"] or {}).get("name")),
        ("served_by", (order["servedBy"] or {}).get("name")),
        ("entered", named("source", order["entrySource"])),
        ("tags", ", ".join(tag["name"] for tag in order["tags"])),
        ("notes", order["notes"]),
        ("id", order["id"]),
    ):
        if value:
            yield sentence(f"order_page.{name}"), value


def _history(order: Data, frame: Frame) -> Iterator[Moment]:
    def moment(text: str, at: str, by: Data | None, *, is_good: bool = False) -> Moment:
        return Moment(text, at, frame.when(at), (by or {}).get("name", ""), is_good)

    currency = order["currency"]
    yield moment(sentence("order_page.was_recorded"), order["createdAt"], order["recordedBy"])
    for one in order["payments"]:
        text = sentence(
            "order_page.was_paid",
            amount=exact(one["amount"], currency),
            method=named("method", one["method"]),
        )
        yield moment(text, one["at"], one["by"], is_good=one["status"] == "successful")
    for one in order["refunds"]:
        amount = exact(one["amount"], currency)
        yield moment(sentence("order_page.was_refunded", amount=amount), one["at"], one["by"])
    for one in order["disputes"]:
        amount = exact(one["amount"], currency)
        yield moment(sentence("order_page.was_disputed", amount=amount), one["openedAt"], None)
    if cancelled := order["cancellation"]:
        text = sentence("order_page.was_cancelled")
        yield moment(text, cancelled["cancelledAt"], cancelled["cancelledBy"])
    if confirmed := order["scheduledConfirmedAt"]:
        yield moment(sentence("order_page.was_confirmed"), confirmed, None)
