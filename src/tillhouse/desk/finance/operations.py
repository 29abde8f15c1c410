"""The operations that pages of finance call."""

from tillhouse.desk.operations import Operation
from tillhouse.finance.room import ROOM as FINANCE
from tillhouse.orders.room import ROOM as ORDERS
from tillhouse.payins.room import ROOM as PAYINS

_TRANSACTION = "/v1/finance/transactions/{transaction_id}"
_EXPENSE = "/v1/finance/expenses/{expense_id}"

LIST_TRANSACTIONS = Operation(FINANCE, "GET", "/v1/finance/transactions")
TRANSACTION = Operation(FINANCE, "GET", _TRANSACTION)
REQUERY = Operation(FINANCE, "POST", _TRANSACTION + "/requery")
RECEIPT = Operation(FINANCE, "POST", _TRANSACTION + "/receipt")
LIST_EXPENSES = Operation(FINANCE, "GET", "/v1/finance/expenses")
RECORD_EXPENSE = Operation(FINANCE, "POST", "/v1/finance/expenses")
EXPENSE = Operation(FINANCE, "GET", _EXPENSE)
DELETE_EXPENSE = Operation(FINANCE, "DELETE", _EXPENSE)
LIST_DEBTS = Operation(ORDERS, "GET", "/v1/debts")
DEBT = Operation(ORDERS, "GET", "/v1/debts/{debt_id}")
LIST_DISPUTES = Operation(PAYINS, "GET", "/v1/disputes")
DISPUTE = Operation(PAYINS, "GET", "/v1/disputes/{dispute_id}")
