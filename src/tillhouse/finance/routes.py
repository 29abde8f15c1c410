"""The routes of /v1/finance."""

from tillhouse.access.call import Call
from tillhouse.finance.books import actions as books
from tillhouse.finance.books import sheets
from tillhouse.finance.books.types import (
    BalanceQuery,
    LedgerEntry,
    LedgerMeta,
    LedgerQuery,
    TrialBalance,
)
from tillhouse.finance.closing import actions as closing
from tillhouse.finance.credit import actions as credit
from tillhouse.finance.expenses import actions as expenses
from tillhouse.finance.summary import actions as summary
from tillhouse.finance.transactions import actions as transactions
from tillhouse.finance.transactions.receipts import actions as receipts
from tillhouse.finance.transactions.requerying import requery
from tillhouse.finance.transactions.types import RequeryMeta
from tillhouse.http.route import CsvAnswer, Reply, Route, Scope

_SUMMARY = Scope("finance:summary:read")
_READ = Scope("finance:transactions:read")
_CLOSE = Scope("finance:closings:write")
_SPEND = Scope("finance:expenses:write")
_TRANSACTIONS = "/v1/finance/transactions"
_TRANSACTION = _TRANSACTIONS + "/{transaction_id}"
_EXPENSES, _EXPENSE = "/v1/finance/expenses", "/v1/finance/expenses/{expense_id}"


async def list_entries(call: Call, wanted: LedgerQuery) -> Reply[list[LedgerEntry]]:
    """A page of the entries, and where the next one is."""
    entries, page = await books.list_entries(call, wanted)
    if wanted.format == "csv":
        sheet = CsvAnswer(sheets.entries_sheet(entries), sheets.next_query(wanted, page))
        return Reply(entries, sheet=sheet)
    return Reply(entries, extra={"meta": page})


async def show_balances(call: Call, wanted: BalanceQuery) -> Reply[TrialBalance]:
    """The balance of each account."""
    found = await books.show_balances(call, wanted)
    is_sheet = wanted.format == "csv"
    return Reply(found, sheet=CsvAnswer(sheets.balances_sheet(found)) if is_sheet else None)


ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/finance/summary", summary.summarize, _SUMMARY,
          "Sum up a day, or all days from one to another", "Financial summary"),
    Route("GET", _TRANSACTIONS, transactions.list_transactions, _READ,
          "List transactions, the newest first", "Transactions"),
    Route("GET", _TRANSACTION, transactions.show_transaction, _READ,
          "Read one transaction", "Transaction"),
    Route("POST", _TRANSACTION + "/requery", requery, _READ,
          "Ask the payment provider again about a transaction", "Transaction",
          idempotent=True, extra=RequeryMeta),
    Route("POST", _TRANSACTION + "/receipt", receipts.make, _READ,
          "Make a receipt of a transaction; its address is good for seven days", "Receipt",
          idempotent=True),
    Route("GET", _EXPENSES, expenses.list_page, _READ,
          "List expenses, the newest first", "Expenses"),
    Route("POST", _EXPENSES, expenses.record, _SPEND,
          "Record an expense", "Expense recorded",
          status=201, idempotent=True, faults=expenses.new_faults),
    Route("GET", _EXPENSE, expenses.show, _READ, "Read one expense", "Expense"),
    Route("DELETE", _EXPENSE, expenses.void, _SPEND,
          "Take an expense back; the ledger keeps it with its reversal",
          "Expense taken back"),
    Route("GET", "/v1/ledger/accounts", show_balances, _READ,
          "Read what is on each account of the books: a trial balance", "Accounts",
          has_sheet=True),
    Route("GET", "/v1/ledger/entries", list_entries, _READ,
          "List the entries of the books, the newest first", "Entries", extra=LedgerMeta,
          has_sheet=True),
    Route("GET", "/v1/ledger/closing", closing.show_closing, _READ,
          "Read up to which day the books are closed", "Closing"),
    Route("PUT", "/v1/ledger/closing", closing.close, _CLOSE,
          "Close the books up to a day: what is dated within changes no more", "Books closed",
          faults=closing.new_faults),
    Route("GET", "/v1/customers/{customer_id}/credit", credit.show_credit, _READ,
          "Read the credit of a customer", "Customer credit"),
)  # fmt: skip
