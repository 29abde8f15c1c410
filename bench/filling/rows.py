"""Sales as rows: what the statements of orders and of the ledger would have written, for COPY."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from bench.filling import plan
from bench.filling.plan import Plan
from bench.filling.sale import Sale, source_of
from tillhouse.kit.clock import iso
from tillhouse.kit.json import encode
from tillhouse.ledger.rules import Owing, Postings
from tillhouse.orders.payments.rules import held_by_method
from tillhouse.orders.posting.rules import (
    SOURCE,
    TENDERS,
    LedgerPosition,
    Method,
    MoneyMove,
    divided,
    move_between,
    postings,
)
from tillhouse.orders.recording.rules.figures import PricedLine
from tillhouse.orders.recording.rules.sale import PREPARATION_MINUTES

COLUMNS: dict[str, tuple[str, ...]] = {
    "ledger_accounts": ("book_id", "kind", "owner_id", "currency", "created_at"),
    "orders": (
        "book_id", "id", "short_code", "idempotency_key", "idempotency_fingerprint", "status",
        "summary", "currency", "subtotal_amount", "discount_amount", "service_charge_amount",
        "tax_amount", "exclusive_tax_amount", "total_amount", "amount_paid", "change_amount",
        "paid_by_cash", "paid_by_transfer", "paid_by_pos", "paid_by_cloove_pay", "paid_by_credit",
        "paid_by_other", "refunded_amount",
        "payment_method", "customer_id", "store_id", "channel", "channel_fulfilled_at",
        "is_automated", "scheduled_at", "service_mode", "table_label", "covers",
        "tag_ids", "notes",
        "recorded_by_id", "recorded_by_name", "served_by_id", "entry_source", "cancellation",
        "wants_kitchen", "fires_at", "postings", "occurred_at", "created_at", "updated_at",
    ),
    "order_items": (
        "book_id", "id", "order_id", "position", "line_type", "product_id", "variant_id",
        "product_name", "variant_name", "quantity", "unit_price", "original_unit_price",
        "subtotal_amount", "discount_amount", "tax_amount", "total_price",
    ),
    "ledger_transfers": (
        "book_id", "id", "debit_kind", "debit_owner", "credit_kind", "credit_owner", "amount",
        "currency", "kind", "source_type", "source_id", "sequence", "happened_at", "created_at",
    ),
    "transactions": (
        "book_id", "id", "reference", "type", "status", "method", "amount", "currency",
        "source_type", "source_id", "customer_id", "store_id", "happened_at", "created_at",
        "updated_at",
    ),
    "payments": (
        "book_id", "id", "order_id", "kind", "method", "amount", "change_amount", "transaction_id",
        "recorded_by_id", "recorded_by_name", "happened_at", "created_at",
    ),
    "refunds": (
        "book_id", "id", "order_id", "method", "amount", "of_sale", "transaction_id",
        "recorded_by_id", "recorded_by_name", "happened_at", "created_at", "ended_at",
    ),
    "ledger_tally_changes": (
        "book_id", "account_kind", "is_cost", "quarter_at", "store_id", "amount",
    ),
    "debts": (
        "book_id", "id", "source_type", "source_id", "customer_id", "status", "balance",
        "currency", "opened_at", "closed_at", "updated_at",
    ),
}  # fmt: skip
"""Tables in the order in which they are written, and the columns that are."""

# Accounts that the financial summary has sums of.
_SUMMED = ("cash", "bank", "pos", "provider_clearing", "other_tender", "refunds", "tips")
_FIRES_BEFORE = timedelta(minutes=PREPARATION_MINUTES)
_REFERENCE_LENGTH = 12

Row = tuple[Any, ...]


class Batch(msgspec.Struct, frozen=True):
    """Rows by table, and the accounts that they name."""

    rows: dict[str, list[Row]]
    accounts: set[tuple[str, UUID]]
    codes: list[str]
    # Sums by (account, quarter of an hour, store) of accounts that a day is summed up by.
    moved: defaultdict[tuple[str, datetime, UUID | None], Decimal] = msgspec.field(
        default_factory=lambda: defaultdict(Decimal)
    )


class RowWriter:
    """Writes sales down as rows."""

    def __init__(self, book_id: UUID, currency: str, what: Plan) -> None:
        self._book_id = book_id
        self._currency = currency
        self._plan = what

    def batch(self, sales: Iterator[Sale]) -> Batch:
        """All rows of some sales."""
        made = Batch({table: [] for table in COLUMNS}, set(), [])
        for sale in sales:
            self._write(sale, made)
        made.rows["ledger_tally_changes"] += [
            (self._book_id, kind, False, quarter, store, amount)
            for (kind, quarter, store), amount in made.moved.items()
        ]
        return made

    def _write(self, sale: Sale, made: Batch) -> None:
        used, before = 0, None
        held: dict[Method, Decimal] = {}
        for moment, position in sale.positions:
            after = divided(before, position)
            move = _move(before, after)
            posted = postings(before, after, move)
            self._post(sale, posted, moment, used, made)
            self._pay(sale, (before, after), moment, made)
            held = held_by_method(held, (before, after), move)
            used += posted.used
            before = after
        change = before.change if before else Decimal(0)
        code = plan.code(self._book_id, sale.number)
        made.codes.append(code)
        made.rows["orders"].append(self._order(sale, code, used, change, held))
        items = made.rows["order_items"]
        items += [self._item(sale, one, place) for place, one in enumerate(sale.lines)]

    def _order(
        self, sale: Sale, code: str, used: int, change: Decimal, held: dict[Method, Decimal]
    ) -> Row:
        key, totals = self._plan.key(sale.number), sale.totals
        fires_at = sale.scheduled_at - _FIRES_BEFORE if sale.scheduled_at else None
        return (
            self._book_id, sale.id, code, key, hashlib.sha256(key.encode()).digest(), sale.status,
            sale.summary, self._currency, totals.subtotal, totals.discount,
            totals.service_charge, totals.tax, totals.exclusive_tax, totals.total, sale.paid,
            change, *(held.get(method) for method in TENDERS), sale.refunded,
            sale.method, sale.customer_id, sale.store_id, sale.channel, sale.fulfilled_at,
            sale.is_automated, sale.scheduled_at, sale.mode,
            sale.table_label, sale.covers, sale.tags, sale.notes, sale.recorder.id,
            sale.recorder.name, sale.server.id if sale.server else None, source_of(sale.channel),
            _cancellation(sale), fires_at is not None, fires_at, used, sale.at, sale.at,
            sale.changed_at,
        )  # fmt: skip

    def _item(self, sale: Sale, one: PricedLine, place: int) -> Row:
        product, variant = one.product, one.variant
        return (
            self._book_id, self._id(sale, sale.milliseconds), sale.id, place, one.line_type,
            product.id if product else None, variant.id if variant else None, one.product_name,
            None if variant is None or variant.is_implicit else variant.name, one.quantity,
            one.unit_price, one.original_unit_price, one.subtotal, one.discount, one.tax,
            one.total,
        )  # fmt: skip

    def _post(
        self, sale: Sale, posted: Postings, moment: datetime, first: int, made: Batch
    ) -> None:
        book, currency = self._book_id, self._currency
        at = int(moment.timestamp() * 1000)
        for number, one in enumerate(posted.transfers, first):
            debit, credit = one.debit, one.credit
            made.accounts.update(((debit.kind, debit.owner_id), (credit.kind, credit.owner_id)))
            made.rows["ledger_transfers"].append((
                book, self._id(sale, at), debit.kind, debit.owner_id, credit.kind,
                credit.owner_id, one.amount, currency, one.kind, SOURCE, sale.id, number, moment,
                moment,
            ))  # fmt: skip
            quarter = moment.replace(minute=moment.minute // 15 * 15, second=0, microsecond=0)
            for kind, amount in ((debit.kind, one.amount), (credit.kind, -one.amount)):
                if kind in _SUMMED:
                    made.moved[kind, quarter, sale.store_id] += amount
        for one in posted.movements:
            made.rows["transactions"].append((
                book, self._id(sale, at), self._reference(sale), one.type, "successful",
                one.method, one.amount, currency, SOURCE, sale.id, sale.customer_id,
                sale.store_id, moment, moment, moment,
            ))  # fmt: skip
        for one in posted.owing:
            self._owe(sale, one, moment, made.rows["debts"])

    def _pay(
        self,
        sale: Sale,
        positions: tuple[LedgerPosition | None, LedgerPosition],
        moment: datetime,
        made: Batch,
    ) -> None:
        """The payment of the transaction that was written last, if the step has one."""
        before, after = positions
        paid = after.paid - (before.paid if before else 0)
        if after.refunded:
            self._give_back(sale, after, moment, made)
        if paid <= 0:
            return
        change = after.change - (before.change if before else 0)
        transaction_id = made.rows["transactions"][-1][1]
        made.rows["payments"].append((
            self._book_id, transaction_id, sale.id, "payment", after.method, paid, change,
            transaction_id, sale.recorder.id, sale.recorder.name, moment, moment,
        ))  # fmt: skip

    def _give_back(self, sale: Sale, after: LedgerPosition, moment: datetime, made: Batch) -> None:
        """The refund of the transaction that was written last."""
        transaction_id = made.rows["transactions"][-1][1]
        made.rows["refunds"].append((
            self._book_id, transaction_id, sale.id, after.method, after.refunded, after.refunded,
            transaction_id, sale.recorder.id, sale.recorder.name, moment, moment, moment,
        ))  # fmt: skip

    def _owe(self, sale: Sale, one: Owing, moment: datetime, debts: list[Row]) -> None:
        """A debt that begins; or ends, which is always of the order that was written last."""
        if one.closes is None:
            debts.append((
                self._book_id, self._id(sale, sale.milliseconds), SOURCE, sale.id,
                one.customer_id, "active", one.balance, self._currency, moment, None, moment,
            ))  # fmt: skip
        else:
            kept = debts.pop()
            debts.append((*kept[:5], one.closes, Decimal(0), kept[7], kept[8], moment, moment))

    def _id(self, sale: Sale, milliseconds: int) -> UUID:
        return plan.ordered_id(milliseconds, sale.chance.getrandbits(74))

    def _reference(self, sale: Sale) -> str:
        return "TXN-" + plan.letters(sale.chance.getrandbits(64), _REFERENCE_LENGTH)


def _move(before: LedgerPosition | None, after: LedgerPosition) -> MoneyMove:
    if after.refunded:
        return MoneyMove(method=after.method, is_refund=True)
    return move_between(before, after)


def _cancellation(sale: Sale) -> str | None:
    if sale.cancellation is None:
        return None
    return encode({**sale.cancellation, "cancelledAt": iso(sale.changed_at)}).decode()
