"""The books as tables: pure."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

import msgspec

from tillhouse.finance.books.types import LedgerEntry, LedgerPage, LedgerQuery, TrialBalance

_ENTRY = (
    "id", "occurred_at", "created_at", "kind", "debit_account", "debit_customer_id",
    "credit_account", "credit_customer_id", "amount", "currency", "source_type", "source_id",
    "reverses_id", "day",
)  # fmt: skip
_ACCOUNT = ("account", "currency", "debits", "credits", "balance")


def entries_sheet(entries: Sequence[LedgerEntry]) -> str:
    """A page of entries, a line each."""
    return _written(_ENTRY, map(_line, entries))


def balances_sheet(balance: TrialBalance) -> str:
    """The accounts, a line each, and a line for the sum of each currency."""
    rows: list[Sequence[object]] = [
        (one.account, one.currency, f"{one.debits:f}", f"{one.credits:f}", f"{one.balance:f}")
        for one in balance.accounts
    ]
    rows += [
        ("total", one.currency, f"{one.debits:f}", f"{one.credits:f}", f"{one.difference:f}")
        for one in balance.totals
    ]
    return _written(_ACCOUNT, rows)


def next_query(wanted: LedgerQuery, page: LedgerPage) -> str | None:
    """The query of the page after this one; None on the last one."""
    if page.next_cursor is None:
        return None
    fields = msgspec.structs.fields(LedgerQuery)
    given = {field.encode_name: getattr(wanted, field.name) for field in fields}
    given["cursor"] = page.next_cursor
    return urlencode({name: _given(value) for name, value in given.items() if value is not None})


def _given(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _line(one: LedgerEntry) -> Sequence[object]:
    return (
        one.id, one.occurred_at, one.created_at, one.kind, one.debit.account,
        one.debit.customer_id or "", one.credit.account, one.credit.customer_id or "",
        f"{one.amount:f}", one.currency, one.source.type, one.source.id, one.reverses_id or "",
        one.day,
    )  # fmt: skip


def _written(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    # Lines end, and cells are quoted, as RFC 4180 says.
    return "".join(",".join(map(_cell, row)) + "\r\n" for row in (names, *rows))


def _cell(value: object) -> str:
    text = str(value)
    if any(letter in text for letter in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
