"""The content of receipts: amounts as they are, sums that lead to the total."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.finance.transactions.receipts import rules as transactions
from tillhouse.kit.clock import iso
from tillhouse.kit.money import EXPONENTS
from tillhouse.ledger.rules import TransactionMethod
from tillhouse.orders.money_types import PaymentMethod
from tillhouse.orders.receipts.addresses import VALID_FOR, until
from tillhouse.orders.receipts.rules import (
    METHODS,
    Content,
    Line,
    Paid,
    Returned,
    Seller,
    amount,
    sheet,
)

AT = datetime(2026, 3, 29, 23, 5, tzinfo=UTC)
SELLER = Seller(
    business="Ada's",
    environment="live",
    time_zone="Africa/Lagos",
    store=None,
    address=None,
    phone=None,
    exclusive_tax=Decimal(0),
)
CONTENT = Content(
    seller=SELLER,
    short_code="7KQ4M2XB",
    status="completed",
    occurred_at=iso(AT),
    scheduled_for=None,
    customer=None,
    table=None,
    served_by=None,
    currency="NGN",
    lines=[],
    subtotal=Decimal(100),
    discount=Decimal(0),
    service_charge=Decimal(0),
    tax=Decimal(0),
    adjustment=Decimal(0),
    total=Decimal(100),
    paid=Decimal(100),
    method="cash",
)
MINUS = "\N{MINUS SIGN}"
amounts = st.decimals(min_value=0, max_value=10**14, places=2)


def content(**changes: Any) -> Content:
    """A content that differs from the plain one in this."""
    return msgspec.structs.replace(CONTENT, **changes)


def seller(**changes: Any) -> Seller:
    """A seller that differs from the plain one in this."""
    return msgspec.structs.replace(SELLER, **changes)


def sums(**changes: Any) -> dict[str, Decimal]:
    """The rows below the lines, as numbers again."""
    rows = sheet(content(**changes), 1, AT).sums
    return {row.label: number(row.amount.removeprefix("NGN ")) for row in rows}


def number(text: str) -> Decimal:
    """The text of an amount."""
    return Decimal(text.replace(",", "").replace(MINUS, "-"))


@given(value=st.decimals(-(10**14), 10**14, places=4), currency=st.sampled_from(sorted(EXPONENTS)))
def test_an_amount_says_what_it_is(value: Decimal, currency: str) -> None:
    """Never rounded, never with fewer decimals than the currency has."""
    text = amount(value, currency)
    assert number(text) == value
    decimals = len(text.partition(".")[2])
    assert decimals >= EXPONENTS[currency]
    assert "E" not in text


@pytest.mark.parametrize(
    ("value", "currency", "text"),
    [
        ("0", "NGN", "0.00"),
        ("1234567.5", "NGN", "1,234,567.50"),
        ("1500", "JPY", "1,500"),
        ("1.5", "KWD", "1.500"),
        ("-20", "USD", f"{MINUS}20.00"),
        ("1E+3", "USD", "1,000.00"),
        ("0.005", "USD", "0.005"),
    ],
)
def test_amounts_by_example(value: str, currency: str, text: str) -> None:
    """Commas between thousands, a real minus."""
    assert amount(Decimal(value), currency) == text


@given(subtotal=amounts, discount=amounts, charge=amounts, tax=amounts, paid=amounts, more=amounts)
def test_the_rows_lead_to_the_total(
    subtotal: Decimal, discount: Decimal, charge: Decimal, tax: Decimal, paid: Decimal,
    more: Decimal,
) -> None:  # fmt: skip
    """The lines above the total add up to it, those below settle it."""
    total = subtotal - min(discount, subtotal) + charge + tax + more
    rows = sums(
        seller=seller(exclusive_tax=tax),
        subtotal=subtotal,
        discount=min(discount, subtotal),
        service_charge=charge,
        tax=tax,
        adjustment=more,
        total=total,
        paid=paid,
    )
    labels = list(rows)
    above = [rows[label] for label in labels[: labels.index("Total")]]
    # With nothing above it the total is the subtotal, which isn't told twice.
    assert rows["Total"] == total == (sum(above, Decimal(0)) if above else subtotal)
    assert rows["Total"] + rows.get("Change", 0) == rows["Paid"] + rows.get("Remaining", 0)


def test_tax_within_the_prices_is_told_beside_the_total() -> None:
    """It adds nothing."""
    rows = sums(tax=Decimal(7))
    assert list(rows) == ["Total", "Tax included", "Paid"]
    assert rows["Tax included"] == 7


@pytest.mark.parametrize("status", ["cancelled", "refunded"])
def test_nothing_remains_of_what_is_over(status: str) -> None:
    """Nobody is asked to pay for an order that is none."""
    assert "Remaining" not in sums(status=status, paid=Decimal(0))


def test_marks_stand_where_they_should() -> None:
    """Test, cancelled or refunded, copy: as many as are true."""
    test = seller(environment="test")
    assert sheet(content(), 1, AT).marks == []
    assert sheet(content(), 2, AT).marks == ["Copy"]
    assert sheet(content(seller=test, status="refunded"), 3, AT).marks == [
        "Test",
        "Refunded",
        "Copy",
    ]


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("Africa/Lagos", "30 Mar 2026, 00:05"),
        ("UTC", "29 Mar 2026, 23:05"),
        ("Asia/Kathmandu", "30 Mar 2026, 04:50"),
        # An hour after the clocks went forward.
        ("Europe/London", "30 Mar 2026, 00:05"),
    ],
)
def test_dates_are_those_of_the_business(zone: str, text: str) -> None:
    """Of its wall clock."""
    there = seller(time_zone=zone)
    shown = sheet(content(seller=there, scheduled_for=iso(AT)), 1, AT)
    facts = dict(shown.facts)
    assert facts["Date"] == facts["Scheduled for"] == text
    assert text in shown.footer


@pytest.mark.parametrize(
    ("quantity", "text"), [("1", "1"), ("10", "10"), ("2.500", "2.5"), ("0.001", "0.001")]
)
def test_quantities_are_short(quantity: str, text: str) -> None:
    """Without zeros that say nothing."""
    line = Line(
        name="Rice", variant=None, quantity=Decimal(quantity), unit_price=Decimal(1),
        amount=Decimal(1), modifiers=[],
    )  # fmt: skip
    assert sheet(content(lines=[line]), 1, AT).lines[0].quantity == text


def test_a_place_is_told_once() -> None:
    """A store that is called like its business is not named twice, and empty lines are none."""
    named = seller(store="Ada's", address=" 12 Road \n\n Lagos ", phone="")
    assert sheet(content(seller=named), 1, AT).place == ["12 Road", "Lagos"]


def test_an_address_ends_after_a_week() -> None:
    """In whole seconds."""
    assert until(AT) == int(AT.timestamp()) + VALID_FOR.total_seconds()


def test_an_address_of_many_lines_takes_one() -> None:
    """Nothing of it is lost."""
    named = seller(address="\n".join(f"Line {n}" for n in range(40)))
    (place,) = sheet(content(seller=named), 1, AT).place
    assert place.endswith("Line 38, Line 39")


def below(**changes: Any) -> list[tuple[str, str]]:
    """The rows below the lines after the total."""
    rows = [(row.label, row.amount) for row in sheet(content(**changes), 1, AT).sums]
    return rows[[label for label, _ in rows].index("Total") + 1 :]


def test_each_tender_has_its_row() -> None:
    """50 by card and 70 in cash for 100, with a tip: change, and no credit."""
    tenders = [Paid("pos", Decimal(50)), Paid("cash", Decimal(70))]
    paid = {"paid": Decimal(120), "payments": tenders, "change": Decimal(20), "tip": Decimal(5)}
    assert below(**paid) == [
        ("Paid (Card)", "NGN 50.00"),
        ("Paid (Cash)", "NGN 70.00"),
        ("Tip", "NGN 5.00"),
        ("Change", "NGN 20.00"),
    ]
    shown = sheet(content(**paid), 1, AT)
    assert ("Payment", "Card, Cash") in shown.facts


def test_a_refund_is_told_and_leaves_nothing_to_pay() -> None:
    """30 of 100 given back: the rest is paid."""
    assert below(
        paid=Decimal(70),
        payments=[Paid("cash", Decimal(100))],
        refunds=[Paid("cash", Decimal(30))],
        change=Decimal(0),
        refunded=Decimal(30),
    ) == [("Paid", "NGN 100.00"), ("Refunded", f"NGN {MINUS}30.00")]


def test_every_method_has_words_for_people() -> None:
    """On receipts of orders and of transactions alike; the online one has no vendor's name."""
    assert METHODS.keys() == set(get_args(PaymentMethod))
    assert transactions.METHODS.keys() == set(get_args(TransactionMethod))
    assert all(transactions.METHODS[method] == words for method, words in METHODS.items())
    assert METHODS["cloove_pay"] == "Online"


def test_a_refund_in_another_way_names_it() -> None:
    """Paid by card, handed back in cash: the receipt says so."""
    assert below(
        paid=Decimal(70),
        payments=[Paid("pos", Decimal(100))],
        refunds=[Paid("cash", Decimal(30))],
        change=Decimal(0),
        refunded=Decimal(30),
    ) == [("Paid", "NGN 100.00"), ("Refunded (Cash)", f"NGN {MINUS}30.00")]


def test_a_refund_names_its_lines_and_their_tax() -> None:
    """A table of their own, since no sum: what came back, when, and the tax that went with it."""
    tea = Returned(
        name="Tea", quantity=Decimal(2), amount=Decimal(30), tax=Decimal("2.09"), at=iso(AT)
    )
    shirt = Returned(
        name="T-shirt", quantity=Decimal(1), amount=Decimal(9), tax=Decimal(1), at=iso(AT),
        variant="Large",
    )  # fmt: skip
    # From before the moment was kept.
    plain = Returned(name="x" * 60, quantity=Decimal(1), amount=Decimal(5), tax=Decimal(0))
    changes: dict[str, Any] = {
        "tax": Decimal(7),
        "paid": Decimal(65),
        "payments": [Paid("cash", Decimal(60)), Paid("pos", Decimal(40))],
        "refunds": [Paid("cash", Decimal(15)), Paid("pos", Decimal(20))],
        "returned": [tea, shirt, plain],
        "change": Decimal(0),
        "refunded": Decimal(35),
        "tip": Decimal(3),
    }
    assert [label for label, _ in below(**changes)] == [
        "Tax included", "Paid (Cash)", "Paid (Card)", "Tip", "Refunded (Cash)", "Refunded (Card)",
    ]  # fmt: skip
    [table] = sheet(content(**changes), 1, AT).tables
    assert table.title == "Given back"
    rows = [(one.date, one.name, one.details, one.amount) for one in table.entries]
    assert rows == [
        ("30 Mar 2026", "2 × Tea", ["of which tax 2.09"], f"{MINUS}30.00"),
        ("30 Mar 2026", "1 × T-shirt", ["Large", "of which tax 1.00"], f"{MINUS}9.00"),
        ("", f"1 × {'x' * 60}", [], f"{MINUS}5.00"),
    ]
    assert sheet(content(), 1, AT).tables == []


def test_change_and_credit_may_meet() -> None:
    """120 in cash and 30 by card for 100."""
    assert below(
        paid=Decimal(150),
        payments=[Paid("cash", Decimal(120)), Paid("pos", Decimal(30))],
        change=Decimal(20),
    )[-2:] == [("Change", "NGN 20.00"), ("Credit", "NGN 30.00")]
