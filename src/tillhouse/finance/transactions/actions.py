"""Reading transactions, and asking about them again."""

from uuid import UUID

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.customers.actions import resolve
from tillhouse.customers.rules import word_query
from tillhouse.finance.transactions.store import counting
from tillhouse.finance.transactions.store import page as store
from tillhouse.finance.transactions.store.query import TransactionQuery
from tillhouse.finance.transactions.types import (
    Transaction,
    TransactionFilter,
    date_label,
    direction,
    local_day,
    methods_of,
)
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import existing
from tillhouse.kit.page import PageOf, meta
from tillhouse.payins.types import ProviderMoney
from tillhouse.stores.store import find_clock

# A page that lies so near is scanned to; the tallies tell where any other is.
_SCAN_MAX = 5_000


async def list_transactions(call: Call, wanted: TransactionFilter) -> PageOf[Transaction]:
    """One page of the transactions that fit, the newest first."""
    query = await _query(call, wanted)
    page = wanted.pick()
    here = call.db, call.book.id, query
    if query.is_picked:
        total = await counting.count_found(*here)
        rows = await store.list_found(*here, page) if page.offset < total else []
        return PageOf([_shown(call, row) for row in rows], meta(page, total))
    count = counting.count_kinds_between if query.is_dated else counting.count_kinds
    total = await count(*here)
    if page.offset >= total:
        return PageOf([], meta(page, total))
    of_all_kinds = (query.type, query.status, query.method, query.store_id) == (None,) * 4
    if of_all_kinds and page.offset + page.per_page <= _SCAN_MAX:
        rows = await store.list_newest(*here, page)
    else:
        rows = await store.list_within(*here, page, await counting.list_days(*here, page))
    return PageOf([_shown(call, row) for row in rows], meta(page, total))


async def show_transaction(call: Call, transaction_id: UUID) -> Transaction:
    """One transaction."""
    found = existing(await store.show_transaction(call.db, call.book.id, transaction_id))
    return _shown(call, found)


async def _query(call: Call, wanted: TransactionFilter) -> TransactionQuery:
    since = until = None
    if wanted.since or wanted.until:
        clock = await find_clock(call, wanted.store_id)
        since, until = clock.between(wanted.since, wanted.until)
    customer_id = await resolve(
        call.db, call.book.id, wanted.customer_id, wanted.customer_email, wanted.customer_phone
    )
    return TransactionQuery(
        type=list(wanted.type) if wanted.type else None,
        status=list(wanted.status) if wanted.status else None,
        method=methods_of(wanted.method) if wanted.method else None,
        store_id=wanted.store_id,
        since=since,
        until=until,
        customer_id=customer_id,
        order_id=wanted.order_id,
        payment_link_id=wanted.payment_link_id,
        code=wanted.search.upper() if wanted.search else None,
        words=word_query(wanted.search) or None if wanted.search else None,
    )


def _shown(call: Call, row: Record) -> Transaction:
    named = {
        name: row[name]
        for name in (
            "id", "reference", "type", "status", "method", "currency", "customer",
            "customer_id", "customer_email", "customer_phone", "store_id", "order_id",
            "order_short_code", "expense_id", "dispute_id", "payment_link_id",
            "payment_link_reference", "change_amount", "created_at", "updated_at",
        )
    }  # fmt: skip
    zone = row["time_zone"]
    day = local_day(row["happened_at"], zone)
    return Transaction(
        **named,
        amount=abs(row["amount"]),
        direction=direction(row["type"], row["amount"]),
        date=day.isoformat(),
        date_label=date_label(day, local_day(call.now, zone)),
        full_date=iso(row["happened_at"]),
        provider_money=_provider_money(row),
    )


def _provider_money(row: Record) -> ProviderMoney | None:
    if row["provider"] is None:
        return None
    return ProviderMoney(
        provider=row["provider"],
        currency=row["provider_currency"],
        gross=row["gross"],
        fee=row["fee"],
        net=row["gross"] - row["fee"],
        fee_returned=row["returned_fee"],
    )
