"""The routes of /v1/finance."""

from tillhouse.finance.credit import actions as credit
from tillhouse.finance.expenses import actions as expenses
from tillhouse.finance.summary import actions as summary
from tillhouse.finance.transactions import actions as transactions
from tillhouse.finance.transactions.receipts import actions as receipts
from tillhouse.finance.transactions.requerying import requery
from tillhouse.finance.transactions.types import RequeryMeta
from tillhouse.http.route import Route, Scope

_SUMMARY = Scope("finance:summary:read")
_READ = Scope("finance:transactions:read")
_SPEND = Scope("finance:expenses:write")
_TRANSACTIONS = "/v1/finance/transactions"
_TRANSACTION = _TRANSACTIONS + "/{transaction_id}"
_EXPENSES, _EXPENSE = "/v1/finance/expenses", "/v1/finance/expenses/{expense_id}"

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
    Route("GET", "/v1/customers/{customer_id}/credit", credit.show_credit, _READ,
          "Read the credit of a customer", "Customer credit"),
)  # fmt: skip
