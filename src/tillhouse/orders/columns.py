"""The columns of orders, their lines, payments and refunds, declared once.

The statements that record, change, lock and show them are composed of these lists. A new column
stands here, in the request or the answer that has it (types.py), and in a migration.
"""

from typing import LiteralString

from tillhouse.kit.columns import Column, of_struct
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.types import ItemShown, NewOrder, Order

ORDERS: tuple[Column, ...] = (
    Column("id", "uuid"),
    Column("short_code", "text"),
    Column("idempotency_key", "text"),
    Column("idempotency_fingerprint", "bytea"),
    Column("status", "text", changes=True),
    Column("payment_status", "text", is_recorded=False),
    Column("summary", "text"),
    Column("currency", "text", is_recorded=False),
    Column("subtotal_amount", "numeric"),
    Column("discount_amount", "numeric"),
    Column("service_charge_amount", "numeric"),
    Column("tax_amount", "numeric", changes=True),
    Column("exclusive_tax_amount", "numeric", changes=True),
    Column("total_amount", "numeric", changes=True),
    Column("adjustment_amount", "numeric", is_recorded=False, changes=True),
    Column("amount_paid", "numeric", changes=True),
    Column("remaining_amount", "numeric", is_recorded=False),
    Column("change_amount", "numeric", changes=True),
    Column("credit_amount", "numeric", changes=True),
    Column("refunded_amount", "numeric", is_recorded=False, changes=True),
    Column("returning_amount", "numeric", is_recorded=False),
    Column("tip_amount", "numeric", is_recorded=False, changes=True),
    Column("payment_method", "text", changes=True),
    Column("customer_id", "uuid", changes=True),
    Column("store_id", "uuid"),
    Column("channel", "text"),
    Column("channel_fulfilled_at", "timestamptz", is_recorded=False, changes=True),
    Column("is_automated", "boolean", is_recorded=False),
    Column("scheduled_at", "timestamptz", changes=True),
    Column("scheduled_confirmed_at", "timestamptz", is_recorded=False, changes=True),
    Column("service_mode", "text"),
    Column("table_session_id", "uuid"),
    Column("table_label", "text"),
    Column("covers", "integer"),
    Column("academic_term_id", "uuid", changes=True),
    Column("promotion_id", "uuid"),
    Column("promotion_customer_id", "uuid"),
    Column("tag_ids", "uuid[]"),
    Column("notes", "text"),
    Column("recorded_by_id", "uuid"),
    Column("recorded_by_name", "text"),
    Column("served_by_id", "uuid"),
    Column("entry_source", "text"),
    Column("wants_kitchen", "boolean"),
    Column("fires_at", "timestamptz", changes=True),
    Column("stock_state", "text", changes=True),
    Column("stock_round", "integer", changes=True),
    Column("postings", "integer", changes=True),
    Column("occurred_at", "timestamptz"),
    Column("created_at", "timestamptz"),
    Column("updated_at", "timestamptz", is_recorded=False),
    Column("hotel_reservation_id", "uuid"),
    Column("hotel_room_id", "uuid"),
    Column("cancellation", "jsonb", is_recorded=False, changes=True),
    Column("recovery_session_id", "text", is_recorded=False),
    Column("deleted_at", "timestamptz", is_recorded=False, changes=True),
    Column("reopened_at", "timestamptz", is_recorded=False, changes=True),
)
RECORDED = tuple(column for column in ORDERS if column.is_recorded)
"""Written with a new order."""
ASKED = of_struct(RECORDED, NewOrder)
"""Of these, those that a request can say by the same name."""
CHANGING = tuple(column for column in ORDERS if column.changes)
"""Written with each change of an order."""
LOCKED = of_struct(ORDERS, OrderState)
"""The columns that a change rests on."""
SHOWN = of_struct(ORDERS, Order)
"""The columns that an answer shows as they are."""

METHODS: tuple[LiteralString, ...] = ("cash", "transfer", "pos", "cloove_pay", "credit", "other")
"""The methods of payment; an order has a column with its sum for each: `paid_by_cash`."""
KINDS: tuple[LiteralString, ...] = (
    "status", "payment_status", "channel", "payment_methods", "service_mode", "store_id",
    "is_automated", "is_fulfilled",
)  # fmt: skip
"""The columns by which orders are of one kind: a tally has the sums of each kind."""
OF_TOTALS: tuple[LiteralString, ...] = ("status", "payment_status", "store_id")
"""Those of them by which the totals of a book are kept as well: there are few."""
DETAILS: tuple[LiteralString, ...] = (
    "recorded_by_id", "served_by_id", "academic_term_id", "tag_ids",
)  # fmt: skip
"""The further columns of the tallies in detail."""
SUMS: tuple[LiteralString, ...] = (
    "orders", "total_amount", "remaining_amount", "refunded_amount",
    *("paid_by_" + method for method in METHODS),
)  # fmt: skip
"""The sums of a tally."""

ITEMS: tuple[Column, ...] = (
    Column("id", "uuid"),
    Column("order_id", "uuid"),
    Column("position", "integer"),
    Column("line_type", "text"),
    Column("product_id", "uuid"),
    Column("variant_id", "uuid"),
    Column("product_name", "text"),
    Column("variant_name", "text"),
    Column("quantity", "numeric"),
    Column("unit_price", "numeric"),
    Column("original_unit_price", "numeric"),
    Column("subtotal_amount", "numeric"),
    Column("discount_amount", "numeric"),
    Column("tax_amount", "numeric"),
    Column("tax_rate", "numeric"),
    Column("total_price", "numeric"),
    Column("image_url", "text"),
    Column("modifiers", "jsonb"),
    Column("components", "jsonb"),
)
ITEMS_SHOWN = of_struct(ITEMS, ItemShown)
"""The columns of a line that an answer shows as they are."""

PAYMENTS: tuple[Column, ...] = (
    Column("id", "uuid"),
    Column("order_id", "uuid"),
    Column("kind", "text"),
    Column("method", "text"),
    Column("amount", "numeric"),
    Column("tip_amount", "numeric"),
    Column("change_amount", "numeric"),
    Column("reference", "text"),
    Column("transaction_id", "uuid"),
    Column("link_id", "uuid"),
    Column("receipt_id", "uuid"),
    Column("recorded_by_id", "uuid"),
    Column("recorded_by_name", "text"),
    Column("happened_at", "timestamptz"),
    Column("created_at", "timestamptz"),
)
"""The columns of a payment as it is recorded."""

REFUNDS: tuple[Column, ...] = (
    Column("id", "uuid"),
    Column("order_id", "uuid"),
    Column("method", "text"),
    Column("amount", "numeric"),
    Column("reason", "text"),
    Column("lines", "jsonb"),
    Column("restocked", "boolean"),
    Column("transaction_id", "uuid"),
    Column("recorded_by_id", "uuid"),
    Column("recorded_by_name", "text"),
    Column("happened_at", "timestamptz"),
)
"""The columns of a refund as it is recorded."""
