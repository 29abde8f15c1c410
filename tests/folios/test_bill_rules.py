"""Bills of very long stays: bounded, and with the sums of all of it."""

import io
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from pypdf import PdfReader

from tillhouse.folios.bills import rules, sheet_rules
from tillhouse.folios.bills.rules import Content
from tillhouse.folios.bills.types import Head, Item, OrderParts, Particulars
from tillhouse.folios.facts import FolioRows, OrderRow, PaymentRow, Stay
from tillhouse.folios.reading import folio_of
from tillhouse.folios.rules import Moved, funds
from tillhouse.kit.ids import CustomerId, OrderId
from tillhouse.orders.receipts.pdf import print_sheet, unpacked_fonts
from tillhouse.orders.types import Person

GUEST = CustomerId(UUID(int=1))
ZERO = Decimal(0)


def _row(index: int, total: Decimal) -> OrderRow:
    return OrderRow(
        id=OrderId(UUID(int=index)),
        short_code=f"CODE{index}",
        summary="1 × Suya (+1 more)",
        status="completed",
        total_amount=total,
        amount_paid=ZERO,
        method="cash",
        customer_id=GUEST,
        change_amount=ZERO,
        refunded_amount=ZERO,
        credit_amount=ZERO,
        remaining_amount=total,
        occurred_at="2026-01-31T19:00:00.000Z",
        night=None,
        used=ZERO,
    )


def _payment(index: int) -> PaymentRow:
    return PaymentRow(
        id=UUID(int=index), customer_id=GUEST, kind="payment", amount=Decimal("0.01"),
        method="cash", reference=None, reason=None, payment_link_id=None,
        transaction_id=UUID(int=index), at="2026-01-31T19:00:00.000Z",
        by=Person(id=UUID(int=2), name="Ada"),
    )  # fmt: skip


def _long(charges: int, payments: int, items: int, name: str = "Suya") -> Content:
    """A bill of so many charges with lines each, and of so many payments."""
    begins = date(2026, 1, 31)
    stay = Stay(
        id=UUID(int=9), short_code="H7K2M4QD", status="checked_out", customer_id=GUEST,
        room_id=UUID(int=3), room_number="101", room_type="Standard", check_in_on=begins,
        check_out_on=begins + timedelta(days=1), nights="[]", taxes="[]", currency="NGN",
        deposit_amount=ZERO, time_zone="Africa/Lagos",
    )  # fmt: skip
    rows = [_row(index, Decimal(f"{index}.01")) for index in range(1, charges + 1)]
    paid = [_payment(index) for index in range(payments)]
    moved = [Moved(customer_id=GUEST, kind="payment", amount=Decimal(payments) / 100)]
    found = FolioRows(stay=stay, orders=rows, payments=paid, moved=moved)
    parts = [
        OrderParts(id=row.id, discount=ZERO, service=ZERO, tax=Decimal("0.07"), methods=[],
                   added_tax=ZERO, adjustment=ZERO) for row in rows
    ]  # fmt: skip
    lines = [
        Item(order_id=row.id, name=name, variant="Large", quantity=Decimal(1),
             amount=row.total_amount) for row in rows for _ in range(items)
    ]  # fmt: skip
    head = Head(
        business="Ada's", environment="live", time_zone="Africa/Lagos", store=None, address=None,
        phone=None, guest="Chinedu Eze", adults=1, children=1, checked_out_at=None,
    )  # fmt: skip
    more = Particulars(head=head, orders=parts, items=lines[: rules.ITEMS_MAX + 1])
    return rules.snapshot(found, folio_of(found), more, funds(moved, [row.seen for row in rows]))


def test_the_rest_of_very_many_rows_is_one_row() -> None:
    """The sums are those of all: nothing is left out of them."""
    content = _long(charges=1500, payments=700, items=1)
    assert len(content.charges) == rules.CHARGES_MAX
    assert content.charges[-1].name == "501 more charges"
    assert sum(one.total for one in content.charges) == content.charges_total
    assert content.charges_total == sum(range(1501)) + 15
    assert len(content.payments) == rules.PAYMENTS_MAX
    assert content.payments[-1].words == ["201 more payments"]
    assert sum(one.amount for one in content.payments) == content.paid == 7
    (tax,) = content.taxes
    assert (tax.name, tax.is_inclusive, tax.amount) == (None, True, 105)
    shown = sheet_rules.sheet(content, 1, datetime(2026, 2, 1, tzinfo=UTC))
    charges, payments = shown.tables
    assert charges.entries[-1].name == "501 more charges"
    assert (payments.entries[-1].name, payments.entries[-1].amount) == ("201 more payments", "2.01")


def test_an_order_is_told_line_by_line_or_not_at_all() -> None:
    """Where the lines of a bill end, an order of which some are missing has its summary."""
    content = _long(charges=5, payments=0, items=300)
    assert [len(one.items) for one in content.charges] == [300, 300, 300, 0, 0]
    assert [one.summary for one in content.charges] == ["", "", "", *2 * ["1 × Suya (+1 more)"]]
    entries = sheet_rules.sheet(content, 1, datetime(2026, 2, 1, tzinfo=UTC)).tables[0].entries
    assert [entries[-1].details, entries[-1].amount] == [["1 × Suya (+1 more)"], "5.01"]


def test_the_letters_of_a_bill_are_bounded() -> None:
    """Some scripts take the printer long: lines give way to summaries, these to nothing."""
    content = _long(charges=400, payments=500, items=1, name="שלום" * 30)
    told = [name for one in content.charges for name in (one.summary, *_names(one))]
    words = [word for one in content.payments for word in one.words]
    assert sum(map(len, (*told, *words))) <= rules.LETTERS_MAX
    lines = [bool(one.items) for one in content.charges].count(True)
    assert lines == rules.LETTERS_MAX // (127 + rules.LETTERS_OF_TEXT)
    assert sum(one.total for one in content.charges) == content.charges_total


def _names(charge: rules.Charge) -> list[str]:
    return [item.name for item in charge.items]


@pytest.mark.proof
def test_a_bill_of_a_thousand_charges_is_printed() -> None:
    """On either paper, each charge with its line."""
    content = _long(charges=1000, payments=500, items=1)
    shown = sheet_rules.sheet(content, 1, datetime(2026, 2, 1, tzinfo=UTC))
    with unpacked_fonts() as fonts:
        for paper in ("a4", "80mm"):
            file = print_sheet(shown, paper, datetime(2026, 2, 1, tzinfo=UTC), fonts)
            text = "".join(one.extract_text() for one in PdfReader(io.BytesIO(file)).pages)
            assert text.count("1 × Suya, Large") == 1000
