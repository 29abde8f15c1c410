"""How far the book has got, by its rows: the model then says what must have come of it.

Nobody can foresee at which moment a message is heard or a job is done. So the walk reads which
payments were recorded, applied and given back, and which step each withdrawal and each refund
through the provider is at; each is legal or not, happens once, and changes the model's figures, to
which everything else is held.
"""

from uuid import UUID

import asyncpg

from tests.money.book_model import Book
from tests.money.provider_side import minor

# The steps that a withdrawal may have taken since it was last looked at.
NEXT = {
    "requested": {"processing", "completed", "failed", "reversed"},
    "processing": {"completed", "failed", "reversed"},
    "completed": {"reversed"},
    # The provider thinks better of it.
    "failed": {"completed"},
    "reversed": {"completed"},
}
# The same of a refund that goes back through the provider.
NEXT_OF_REFUND = {
    "pending": ["successful", "failed"],
    "failed": ["successful"],
    "successful": ["reversed"],
    "reversed": [],
}
# The same of one that is paid out: a withdrawal that failed stays so.
NEXT_OF_PAID_OUT = {**NEXT_OF_REFUND, "failed": []}


async def catch_up(sql: asyncpg.Connection, book_id: UUID, book: Book) -> None:
    """Let the model take every step that the book took."""
    rows = await _payments(sql, book_id, book)
    await _steps(book, [row for row in rows if not _follows(book, row) and not _waits(book, row)])
    await _withdrawals(sql, book_id, book)
    await _returns(sql, book_id, book)
    await _steps(book, rows)
    for row in rows:
        payment = book.paid[row["provider_transaction_id"]]
        seen, wanted = minor(row["returned_amount"]), (payment.returned, payment.fee_left)
        assert (seen, minor(row["fee"] - row["returned_fee"])) == wanted, (dict(row), payment)


def _follows(book: Book, row: asyncpg.Record) -> bool:
    """Whether more went back of a payment that is known to be reversed: a refund has ended."""
    payment = book.paid[row["provider_transaction_id"]]
    return payment.is_reversed and minor(row["returned_amount"]) > payment.returned


def _waits(book: Book, row: asyncpg.Record) -> bool:
    """Whether a refund that had failed went back after all before its payment was reversed."""
    payment, number = book.paid[row["provider_transaction_id"]], row["provider_transaction_id"]
    left = payment.amount - book.given_back(number)
    is_news = row["status"] == "reversed" and not payment.is_reversed
    return is_news and minor(row["returned_amount"]) < left


async def _payments(sql: asyncpg.Connection, book_id: UUID, book: Book) -> list[asyncpg.Record]:
    rows = await sql.fetch(_PAYINS, book_id)
    known = [row["provider_transaction_id"] for row in rows]
    assert len(known) == len(set(known)), "a payment was recorded twice"
    for row in rows:
        payment = book.paid[row["provider_transaction_id"]]
        seen = minor(row["amount"]), minor(row["fee"]), row["currency"] != "NGN"
        assert seen == (payment.amount, payment.fee, payment.is_foreign), (dict(row), payment)
        if not payment.is_recorded:
            book.record(payment)
    return rows


async def _steps(book: Book, rows: list[asyncpg.Record]) -> None:
    """Take what was applied, reversed and given back, in the order of time."""
    steps: list[tuple[object, int, asyncpg.Record]] = []
    for row in rows:
        payment = book.paid[row["provider_transaction_id"]]
        has_applied = payment.funds_wallet and row["payments"] + row["deposits"] > 0
        assert row["payments"] + row["deposits"] <= 1, f"applied twice: {dict(row)}"
        if has_applied and not payment.is_applied:
            steps.append((row["applied_at"], 0, row))
        is_news = row["status"] == "reversed" and not payment.is_reversed
        if is_news or _follows(book, row):
            steps.append((row["returned_at"], 1, row))
        if has_applied and minor(row["returned_applied"]) > payment.given:
            steps.append((row["reversal_applied_at"], 2, row))
    is_alone = len({id(row) for _, step, row in steps if step == 1}) == len(steps) == 1
    for _, step, row in sorted(steps, key=lambda one: (one[0], one[2]["paid_at"], one[1])):
        payment = book.paid[row["provider_transaction_id"]]
        match step:
            case 0:
                book.apply(payment)
            case 1:
                assert payment.state == "reversed", "nobody took it back"
                number = row["provider_transaction_id"]
                book.reverse(number, minor(row["claimed"]), is_alone=is_alone)
            case _:
                book.give_back(payment, minor(row["returned_applied"]))


async def _withdrawals(sql: asyncpg.Connection, book_id: UUID, book: Book) -> None:
    rows = await sql.fetch(_WITHDRAWALS, book_id)
    assert {str(row["id"]) for row in rows} == book.withdrawals.keys()
    for row in rows:
        number = str(row["id"])
        one, status = book.withdrawals[number], row["status"]
        assert minor(row["amount"]) == one.amount
        one.fee, one.fee_due = minor(row["fee"]), minor(row["fee_due"])
        one.amount_due = minor(row["amount_due"])
        if status == one.status:
            continue
        assert status in NEXT[one.status], f"{one.status} became {status}"
        if status == "completed" and one.status in ("failed", "reversed"):
            book.events["wallet.withdrawal.completed", number] += 1
            book.complete_late()
        elif row["was_paid"] and one.status != "completed":
            book.events["wallet.withdrawal.completed", number] += 1
            book.failures = 0
        if status in ("failed", "reversed"):
            book.events["wallet.withdrawal.failed", number] += 1
        if status == "failed":
            book.fail()
        one.status = status


async def _returns(sql: asyncpg.Connection, book_id: UUID, book: Book) -> None:
    rows = await sql.fetch(_RETURNS, book_id)
    assert {str(row["id"]) for row in rows} == book.returns.keys()
    for row in rows:
        one = book.returns[str(row["id"])]
        seen = minor(row["amount"]), str(row["order_id"]), row["provider_transaction_id"]
        assert seen == (one.amount, one.order, one.payment), (dict(row), one)
        if row["status"] == "reversed" and one.status in ("pending", "failed"):
            assert one.withdrawal is None or one.status == "pending", dict(row)
            book.end_return(one, "successful")
        if row["status"] != one.status:
            steps = NEXT_OF_REFUND if one.withdrawal is None else NEXT_OF_PAID_OUT
            assert row["status"] in steps[one.status], f"{one.status}: {dict(row)}"
            book.end_return(one, row["status"])
        if one.status == "successful":
            names = ("shortfall", "of_sale", "claimed", "taken_before")
            booked = one.shortfall, one.of_sale, one.claim, one.taken_before
            assert tuple(minor(row[name]) for name in names) == booked, (dict(row), one)


_PAYINS = """
    SELECT p.*,
        (SELECT count(*) FROM payments o WHERE o.book_id = $1 AND o.receipt_id = p.id) AS payments,
        (SELECT count(*) FROM ledger_transfers t WHERE t.book_id = $1 AND t.source_id = p.id
            AND t.kind = 'wallet_deposit') AS deposits,
        (SELECT coalesce(sum(t.amount), 0) FROM ledger_transfers t WHERE t.book_id = $1
            AND t.source_id = p.id AND t.kind = 'reversal_claim') AS claimed
    FROM payins p WHERE p.book_id = $1 ORDER BY p.created_at, p.id
"""
_WITHDRAWALS = """
    SELECT id, status::text, amount, fee, fee_due, amount_due,
        payout_transfer_id IS NOT NULL AS was_paid
    FROM withdrawals WHERE book_id = $1 ORDER BY id
"""
_RETURNS = """
    SELECT f.id, f.order_id, f.status, f.amount, f.shortfall, f.of_sale, f.taken_before,
        p.provider_transaction_id,
        (SELECT coalesce(sum(t.amount), 0) FROM ledger_transfers t WHERE t.book_id = $1
            AND t.source_id = f.id AND t.kind = 'refund_claim') AS claimed
    FROM refunds f JOIN payins p ON p.book_id = $1 AND p.id = f.payin_id
    WHERE f.book_id = $1 AND (f.hold_id IS NOT NULL OR f.withdrawal_id IS NOT NULL)
    ORDER BY f.id
"""
