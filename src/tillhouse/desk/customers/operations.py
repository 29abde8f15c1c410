"""The operations that pages of customers call."""

from tillhouse.customers.room import ROOM as CUSTOMERS
from tillhouse.desk.operations import Operation
from tillhouse.finance.room import ROOM as FINANCE
from tillhouse.orders.room import ROOM as ORDERS

CUSTOMER = Operation(CUSTOMERS, "GET", "/v1/customers/{customer_id}")
MAKE = Operation(CUSTOMERS, "POST", "/v1/customers")
CHANGE = Operation(CUSTOMERS, "PATCH", "/v1/customers/{customer_id}")
DELETE = Operation(CUSTOMERS, "DELETE", "/v1/customers/{customer_id}")
CREDIT = Operation(FINANCE, "GET", "/v1/customers/{customer_id}/credit")
LIST_DEBTS = Operation(ORDERS, "GET", "/v1/debts")
