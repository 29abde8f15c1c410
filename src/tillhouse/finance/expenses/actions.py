"""Record expenses, show them, take them back."""

from uuid import UUID

from asyncpg import Record

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_currency
from tillhouse.finance.expenses import rules, store
from tillhouse.finance.expenses.types import Expense, ExpenseFilter, NewExpense
from tillhouse.finance.transactions.store.counting import count_kinds, count_kinds_between
from tillhouse.finance.transactions.store.query import TransactionQuery
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import BookKey, TransferId, new_id
from tillhouse.kit.page import Deleted, PageOf, meta
from tillhouse.kit.partial import InvalidField, facts_of
from tillhouse.ledger.posting import post, reverse
from tillhouse.ledger.rules import Ledger, Source
from tillhouse.ledger.store.transactions import update_reversed
from tillhouse.orders.money_types import actor_of
from tillhouse.orders.types import Person
from tillhouse.stores.store import STORES, find_clock, lock_kept_store


async def record(call: Call, new: NewExpense) -> Expense:
    """Record an expense, and post it."""
    is_there = not new.store_id or await lock_kept_store(call.db, call.book.id, new.store_id)
    facts = rules.ExpenseFacts(await find_currency(call.db, call.book.id), not is_there)
    check(rules.expense_faults(new, facts, call.now))
    currency = facts.currency
    expense_id, spent_at = new_id(), rules.happened_at(new, call.now)
    source = Source(type=rules.SOURCE, id=expense_id, happened_at=spent_at, store_id=new.store_id)
    ledger = Ledger(call.book.id, currency, call.now)
    posted = await post(call.db, ledger, source, rules.postings(new))
    by = actor_of(call.caller)
    row = facts_of(
        store.ExpenseRow,
        new,
        currency=currency,
        description=new.description or None,
        transaction_id=posted.transactions[0],
        transfer_id=posted.transfers[0],
        recorded_by_id=by.id,
        recorded_by_name=by.name,
        happened_at=spent_at,
    )
    await store.insert_expense(call.db, BookKey(call.book.id, expense_id), row, call.now)
    return await show(call, expense_id)


async def new_faults(call: Call, new: NewExpense) -> list[FieldError]:
    """The faults of a new expense."""
    try:
        store_id = new.store_id
    except InvalidField:
        store_id = None
    is_there = not store_id or await STORES.has(call.db, call.book.id, store_id)
    facts = rules.ExpenseFacts(await find_currency(call.db, call.book.id), not is_there)
    return rules.expense_faults(new, facts, call.now)


async def list_page(call: Call, wanted: ExpenseFilter) -> PageOf[Expense]:
    """One page of the expenses that fit, the newest first."""
    since = until = None
    if wanted.since or wanted.until:
        clock = await find_clock(call, wanted.store_id)
        since, until = clock.between(wanted.since, wanted.until)
    # An expense and its transaction are of the same moment and store.
    query = TransactionQuery(
        type=["expense"], status=["successful"], store_id=wanted.store_id, since=since, until=until
    )
    count = count_kinds_between if query.is_dated else count_kinds
    total = await count(call.db, call.book.id, query)
    page = wanted.pick()
    if page.offset >= total:
        return PageOf([], meta(page, total))
    within = store.Within(store_id=wanted.store_id, since=since, until=until)
    rows = await store.list_expenses(call.db, call.book.id, within, page)
    return PageOf([_shown(row) for row in rows], meta(page, total))


async def show(call: Call, expense_id: UUID) -> Expense:
    """One expense."""
    return _shown(existing(await store.show_expense(call.db, call.book.id, expense_id)))


async def void(call: Call, expense_id: UUID) -> Deleted:
    """Take an expense back: its transfer is reversed, its transaction says so."""
    found = existing(await store.lock_expense(call.db, call.book.id, expense_id))
    ledger = Ledger(call.book.id, found["currency"], call.now)
    source = Source(
        type=rules.SOURCE, id=expense_id, happened_at=call.now, store_id=found["store_id"]
    )
    await reverse(call.db, ledger, source, TransferId(found["transfer_id"]))
    await update_reversed(call.db, ledger, found["transaction_id"])
    await store.update_voided(call.db, BookKey(call.book.id, expense_id), call.now)
    told = {"expenseId": str(expense_id), "amount": found["amount"]}
    await audit.note(call, ("expense.voided", "Expense taken back"), told)
    return Deleted(expense_id, iso(call.now))


def _shown(row: Record) -> Expense:
    names = [name for name in Expense.__struct_fields__ if name != "recorded_by"]
    by = Person(row["recorded_by_id"], row["recorded_by_name"])
    return Expense(**{name: row[name] for name in names}, recorded_by=by)
