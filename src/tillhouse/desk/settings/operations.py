"""The operations that pages of settings call."""

from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.desk.operations import Operation
from tillhouse.kitchen.room import ROOM as KITCHEN
from tillhouse.labels.room import ROOM as LABELS
from tillhouse.seating.room import ROOM as SEATING
from tillhouse.stores.room import ROOM as STORES

BUSINESS = Operation(ACCOUNTS, "GET", "/v1/business")
CHANGE_BUSINESS = Operation(ACCOUNTS, "PATCH", "/v1/business")
MESSAGES = Operation(KITCHEN, "GET", "/v1/kitchen/stage-messages")
SET_MESSAGES = Operation(KITCHEN, "PUT", "/v1/kitchen/stage-messages")
MAKE_STORE = Operation(STORES, "POST", "/v1/stores")
STORE = Operation(STORES, "GET", "/v1/stores/{store_id}")
CHANGE_STORE = Operation(STORES, "PATCH", "/v1/stores/{store_id}")
DELETE_STORE = Operation(STORES, "DELETE", "/v1/stores/{store_id}")
TABLES = Operation(SEATING, "GET", "/v1/tables")
MAKE_TABLE = Operation(SEATING, "POST", "/v1/tables")
TABLE = Operation(SEATING, "GET", "/v1/tables/{table_id}")
CHANGE_TABLE = Operation(SEATING, "PATCH", "/v1/tables/{table_id}")
DELETE_TABLE = Operation(SEATING, "DELETE", "/v1/tables/{table_id}")
TAGS = Operation(LABELS, "GET", "/v1/tags")
MAKE_TAG = Operation(LABELS, "POST", "/v1/tags")
TAG = Operation(LABELS, "GET", "/v1/tags/{tag_id}")
CHANGE_TAG = Operation(LABELS, "PATCH", "/v1/tags/{tag_id}")
DELETE_TAG = Operation(LABELS, "DELETE", "/v1/tags/{tag_id}")
TERMS = Operation(LABELS, "GET", "/v1/academic-terms")
MAKE_TERM = Operation(LABELS, "POST", "/v1/academic-terms")
TERM = Operation(LABELS, "GET", "/v1/academic-terms/{term_id}")
CHANGE_TERM = Operation(LABELS, "PATCH", "/v1/academic-terms/{term_id}")
DELETE_TERM = Operation(LABELS, "DELETE", "/v1/academic-terms/{term_id}")
