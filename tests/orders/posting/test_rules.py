"""The postings of an order: after any changes, each account holds what its position says."""

from collections import defaultdict
from decimal import Decimal
from typing import cast, get_args
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.orders.posting.shop import position
from tillhouse.ledger.rules import NO_OWNER, Account, Postings, Transfer
from tillhouse.orders.posting.rules import (
    TENDERS,
    LedgerPosition,
    Method,
    Status,
    divided,
    postings,
)

ANN, BEN = UUID(int=7), UUID(int=8)
# Few values that meet often (equal, over, under), among any others.
AMOUNTS = st.sampled_from([0, 100, 150, 200]).map(Decimal) | st.decimals(0, 10**14, places=4)
ENDED = ("cancelled", "deleted")
# Credit that is spent comes from somewhere else: see tests/orders/payments.
METHODS = [method for method in get_args(Method) if method != "credit"]
STANDS = st.builds(
    LedgerPosition,
    total=AMOUNTS,
    paid=AMOUNTS,
    method=st.sampled_from(METHODS),
    customer_id=st.sampled_from([None, ANN, BEN]),
    status=st.sampled_from(get_args(Status)),
)


def stood(positions: list[LedgerPosition]) -> list[LedgerPosition]:
    """A walk through positions, each divided as the way there leaves it."""
    walk: list[LedgerPosition] = []
    for position_ in positions:
        walk.append(divided(walk[-1] if walk else None, position_))
    return walk


WALKS = st.lists(STANDS, min_size=1, max_size=8).map(stood)


class Books:
    """A ledger in memory, by nothing but the postings."""

    def __init__(self) -> None:
        self.accounts: defaultdict[Account, Decimal] = defaultdict(Decimal)
        self.kinds: defaultdict[str, Decimal] = defaultdict(Decimal)
        self.received = Decimal(0)
        self.tenders: defaultdict[Method, Decimal] = defaultdict(Decimal)
        self.debts: dict[UUID, Decimal] = {}
        self.closed: list[tuple[UUID, str]] = []

    def post(self, made: Postings) -> None:
        """Add one step."""
        for transfer in made.transfers:
            self.accounts[transfer.debit] += transfer.amount
            self.accounts[transfer.credit] -= transfer.amount
            self.kinds[transfer.kind] += transfer.amount
        # Change that moves after its payment is no part of what was paid.
        paid = [movement for movement in made.movements if movement.type != "change"]
        self.received += sum((movement.amount for movement in paid), Decimal(0))
        for movement in paid:
            self.tenders[cast("Method", movement.method)] += movement.amount
        for owing in made.owing:
            if owing.closes:
                del self.debts[owing.customer_id]
                self.closed.append((owing.customer_id, owing.closes))
            else:
                self.debts[owing.customer_id] = owing.balance

    def uneven(self) -> dict[Account, Decimal]:
        """Accounts that hold something: debits less credits."""
        return {account: held for account, held in self.accounts.items() if held}


def walked(walk: list[LedgerPosition]) -> Books:
    """The books after a walk."""
    books = Books()
    for before, after in zip([None, *walk], walk, strict=False):
        books.post(postings(before, after))
    return books


def left(now: LedgerPosition) -> Decimal:
    """The amount still due for the sale; a prepayment counts below zero."""
    if now.is_sold:
        return max(now.total - now.paid, Decimal(0))
    return -now.paid if now.status == "scheduled" else Decimal(0)


def surplus(now: LedgerPosition) -> tuple[Account, Decimal]:
    """Which account of a payer holds how much too much."""
    kept = (
        Account("customer_credit", now.customer_id)
        if now.customer_id
        else Account("unapplied_receipts")
    )
    if now.status in ("cancelled", "deleted"):
        return kept, now.paid - now.change
    if now.is_sold:
        return kept, max(now.paid - now.total, Decimal(0)) - now.change
    return kept, Decimal(0)


@given(WALKS)
def test_change_follows_from_the_ways_of_paying(walk: list[LedgerPosition]) -> None:
    """By one way alone all that is too much is change, or none of it is.

    An order that ends hands nothing out.
    """
    now = walk[-1]
    over = Decimal(0) if now.status == "scheduled" else max(now.paid - now.total, Decimal(0))
    assert 0 <= now.change <= over
    if now.status in ENDED:
        assert now.change <= (walk[-2].change if walk[1:] else 0)
    if all(one.method == "cash" and one.status not in ENDED for one in walk):
        assert now.change == over
    if all(one.method != "cash" for one in walk):
        assert now.change == 0


@given(WALKS)
def test_every_account_says_what_the_order_says(walk: list[LedgerPosition]) -> None:
    """Receivable, sales and surplus depend on the last position alone, and on its change."""
    books, now = walked(walk), walk[-1]
    account, over = surplus(now)
    wanted = {
        Account("receivable", now.customer_id or NO_OWNER): left(now),
        Account("sales"): -now.total if now.is_sold else Decimal(0),
        account: -over,
    }
    tenders = {Account(kind) for kind in TENDERS.values()}
    held = {name: amount for name, amount in books.uneven().items() if name not in tenders}
    assert held == {name: amount for name, amount in wanted.items() if amount}


@given(WALKS)
def test_money_in_the_tenders_is_what_was_paid_less_the_change(walk: list[LedgerPosition]) -> None:
    """Payments less corrections are what was paid; only change leaves the drawer."""
    books, now = walked(walk), walk[-1]
    less = books.kinds["payment_correction"] + books.kinds["refund"]
    assert books.kinds["payment"] - less == now.paid
    assert books.received == now.paid
    change = now.change
    assert books.kinds["change"] - books.kinds["change_returned"] == change
    tenders = {Account(kind) for kind in TENDERS.values()}
    assert sum(books.accounts[tender] for tender in tenders) == now.paid - change


@given(WALKS)
def test_there_is_one_debt_with_what_is_left_or_none(walk: list[LedgerPosition]) -> None:
    """A customer's pending or completed order with something left has exactly that debt."""
    books, now = walked(walk), walk[-1]
    owes = now.customer_id and now.status in ("pending", "completed") and now.total > now.paid
    assert books.debts == ({now.customer_id: now.total - now.paid} if owes else {})


@given(WALKS)
def test_a_step_posts_each_kind_once_and_never_nothing(walk: list[LedgerPosition]) -> None:
    """No empty transfer, no account with itself, no kind twice; the same position posts nothing."""
    for before, after in zip([None, *walk], walk, strict=False):
        made = postings(before, after)
        kinds = [transfer.kind for transfer in made.transfers]
        assert len(kinds) == len(set(kinds)) == made.used
        assert all(transfer.amount > 0 for transfer in made.transfers)
        assert all(transfer.debit != transfer.credit for transfer in made.transfers)
        assert all(movement.amount for movement in made.movements)
        assert postings(after, after).is_nothing


@given(WALKS)
def test_no_step_takes_back_more_credit_than_the_order_gave(walk: list[LedgerPosition]) -> None:
    """Alone with its order, a customer's credit is never below zero, between steps as after."""
    books = Books()
    for before, after in zip([None, *walk], walk, strict=False):
        books.post(postings(before, after))
        for account, held in books.accounts.items():
            if account.kind in ("customer_credit", "unapplied_receipts"):
                assert held <= 0


@given(STANDS, STANDS)
def test_there_and_back_again_leaves_nothing(one: LedgerPosition, other: LedgerPosition) -> None:
    """The postings of a step are undone by the step back."""
    walk = stood([one, other])
    back = divided(walk[-1], one)
    # Ways of paying that differ may leave change where credit was.
    if back.change != walk[0].change:
        return
    books, before = walked([*walk, back]), walked(walk[:1])
    tenders = {Account(kind) for kind in TENDERS.values()}
    for account in {*books.accounts, *before.accounts} - tenders:
        assert books.accounts[account] == before.accounts[account]
    assert books.debts == before.debts


def test_a_sale_for_cash_gives_change() -> None:
    """1,500 for what costs 1,000: 1,000 stay in the drawer."""
    made = postings(None, divided(None, position(1000, 1500, ANN)))
    owner = Account("receivable", ANN)
    assert made.transfers == (
        Transfer(owner, Account("sales"), Decimal(1000), "sale"),
        Transfer(Account("cash"), owner, Decimal(1500), "payment"),
        Transfer(owner, Account("cash"), Decimal(500), "change"),
    )


@pytest.mark.parametrize("status", ["cancelled", "deleted"])
def test_change_stays_handed_out_when_the_sale_is_undone(status: Status) -> None:
    """1,500 for what costs 1,000, cancelled: 1,000 are the customer's, 500 are gone for good."""
    sold = divided(None, position(1000, 1500, ANN))
    over = msgspec.structs.replace(sold, status=status)
    owner, credit = Account("receivable", ANN), Account("customer_credit", ANN)
    assert postings(sold, over).transfers == (
        Transfer(Account("sales"), owner, Decimal(1000), "sale_reversed"),
        Transfer(owner, credit, Decimal(1000), "credit_given"),
    )
    assert walked([sold, over]).uneven() == {
        Account("cash"): Decimal(1000),
        credit: Decimal(-1000),
    }
    again = postings(over, sold).transfers
    assert [transfer.kind for transfer in again] == ["credit_taken_back", "sale"]


@pytest.mark.parametrize("method", ["transfer", "pos", "cloove_pay", "other"])
def test_too_much_by_any_other_way_becomes_credit(method: Method) -> None:
    """The customer's if there is one; else it waits for its owner."""
    paid = position(1000, 1500, ANN, method=method)
    assert walked([paid]).accounts[Account("customer_credit", ANN)] == -500
    unknown = msgspec.structs.replace(paid, customer_id=None)
    assert walked([unknown]).accounts[Account("unapplied_receipts")] == -500
    assert walked([unknown, paid]).uneven() == walked([paid]).uneven()


def test_a_payment_of_a_debt_is_one() -> None:
    """The first receipt belongs to the sale, one that finds a debt to the debt."""
    first, second = position(1000, 400, ANN), position(1000, 1000, ANN)
    assert [r.type for r in postings(None, first).movements] == ["sale"]
    assert [r.type for r in postings(first, second).movements] == ["debt_payment"]
    without = position(1000, 400), position(1000, 1000)
    assert [r.type for r in postings(*without).movements] == ["sale"]


def test_a_correction_takes_back_what_was_booked() -> None:
    """Lower paid is a correction by the old method, also when the method changes with it."""
    before, after = position(1000, 800, method="pos"), position(1000, 300, method="transfer")
    made = postings(before, after)
    assert [(t.kind, t.credit, t.amount) for t in made.transfers] == [
        ("payment_correction", Account("pos"), Decimal(500))
    ]
    assert [(r.type, r.method, r.amount) for r in made.movements] == [
        ("adjustment", "pos", Decimal(-500))
    ]


@pytest.mark.parametrize(
    ("after", "closes"),
    [
        (position(1000, 1000, ANN), "paid"),
        (position(400, 400, ANN), "paid"),
        (position(1000, 400, ANN, status="cancelled"), "voided"),
        (position(1000, 400, ANN, status="scheduled"), "voided"),
        (position(1000, 400, ANN, status="refunded"), "voided"),
        (position(1000, 400, ANN, status="deleted"), "removed"),
        (position(1000, 400, BEN), "voided"),
        (position(1000, 1000, BEN), "voided"),
        (position(1000, 400), "voided"),
    ],
)
def test_how_a_debt_ends(after: LedgerPosition, closes: str) -> None:
    """Paid, voided or removed; another customer's debt is a new one."""
    books = walked([position(1000, 400, ANN), after])
    assert books.closed == [(ANN, closes)]
    assert books.debts == ({BEN: Decimal(600)} if after.debt else {})
