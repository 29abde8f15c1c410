"""The hot statements: those that requests, senders and every order wait for."""

from collections.abc import Callable
from typing import Any

import msgspec

Change = Callable[[str, Any], Any]


class Hot(msgspec.Struct, frozen=True):
    """A statement to be written out: of which function, called how, with which parameters."""

    file: str
    # The store's module within the package, and its function.
    function: str
    about: str
    # In their order; the conditions of a list come after them and are named by their columns.
    parameters: str
    # Whether everything is given that may be absent.
    is_full: bool = True
    change: Change | None = None


def _taken_from_stock(name: str, value: Any) -> Any:
    """Orders as most are: with stock, a payment and a key, without a table or the kitchen."""
    if name == "recordings":
        plain = {"has_session": False, "has_store": False, "has_ticket": False}
        return [
            msgspec.structs.replace(
                one, newcomer=None, entry=msgspec.structs.replace(one.entry, **plain)
            )
            for one in value
        ]
    return value


def _of_a_product(name: str, value: Any) -> Any:
    """The facts that orders of catalog products need, and nothing else."""
    if name == "wants":
        one_each = ("customer_id", "customer_name", "session_id", "server_id", "term_id")
        unnamed = dict.fromkeys(one_each)
        return [msgspec.structs.replace(one, **unnamed, options=[], tags=[]) for one in value]
    return value


_RECORDING = (
    "book_id now currency posting movement owing orders items moves event_ids event_types "
    "event_payloads event_moments event_apps surfaces keys fingerprints answers newcomer_ids "
    "newcomer_names payments event_entities"
)
_FACTS = (
    "book_id store_id store_name customers sessions servers terms products variants "
    "bare_products options keys tags customer_names"
)
_SEARCHED = "book_id limit offset words code"

HOT = (
    Hot("key_check", "access.store.keys.check_keys",
        "The keys of all requests that wait at this moment.", "digests wanted rate burst"),
    Hot("order_facts", "orders.recording.store.facts.find_facts",
        "All that orders may name.", _FACTS),
    Hot("order_facts_of_products", "orders.recording.store.facts.find_facts",
        "Orders of products.", _FACTS, change=_of_a_product),
    Hot("order_record", "orders.recording.store.record_statement.insert_orders",
        "Orders with stock, payment and key: the whole transaction.", _RECORDING,
        change=_taken_from_stock),
    Hot("order_record_in_full", "orders.recording.store.record_statement.insert_orders",
        "With a store, a table's session, a kitchen ticket and a new customer too.", _RECORDING),
    Hot("order_record_of_fees", "orders.recording.store.record_statement.insert_orders",
        "Orders without stock, payment, key, table or ticket.", _RECORDING, is_full=False),
    Hot("order_record_in_transaction", "orders.recording.store.record_statement.insert_order",
        "An order in a transaction with more.", _RECORDING),
    Hot("order_by_id", "orders.store.find_order", "One order.", "book_id order_id"),
    Hot("order_list", "orders.listing.store.page.list_newest",
        "The newest page, without filters.", "book_id limit offset", is_full=False),
    Hot("order_list_filtered", "orders.listing.store.page.list_near",
        "A page near the newest, with every filter.", "book_id limit offset words most"),
    Hot("order_list_deep", "orders.listing.store.page.list_within",
        "A page of which the tallies tell where it is, with every filter.",
        "book_id limit skipped begins ends"),
    Hot("order_list_searched", "orders.listing.store.page.list_found",
        "A page of what a search finds.", _SEARCHED, is_full=False),
    Hot("order_figures", "orders.listing.store.figures.find_figures",
        "Figures without filters.", "book_id store_id now", is_full=False),
    Hot("order_figures_filtered", "orders.listing.store.figures.find_figures",
        "Figures with every filter that all tallies know.", "book_id store_id now"),
    Hot("order_figures_in_detail", "orders.listing.store.figures.find_figures_in_detail",
        "Figures of people, terms and tags as well.", "book_id store_id now"),
    Hot("order_figures_between", "orders.listing.store.figures.find_figures_between",
        "Figures of a time, without other filters.",
        "book_id store_id now since first_midnight last_midnight until first_day day_after "
        "first_month month_after", is_full=False),
    Hot("order_figures_searched", "orders.listing.store.figures.find_figures_of_found",
        "Figures of what a search finds.", "book_id store_id now words code", is_full=False),
    Hot("webhook_emit", "webhooks.store.events.insert_events",
        "Events, with their deliveries.",
        "book_id now ids types payloads moments app_id entity_ids"),
    Hot("webhook_claim", "webhooks.store.queue.claim_batch",
        "A sender's next batch.",
        "after endpoints now lease_ends_at busy window failures_to_probe free deep unproven "
        "probes"),
    Hot("webhook_record", "webhooks.store.queue.record_batch",
        "What became of a batch.",
        "book_id delivery_id generation url is_delivered response_status latency_ms error entry "
        "retry_at at"),
    Hot("webhook_endpoint_results", "webhooks.store.queue.update_endpoint_results",
        "What that says of the endpoints.",
        "book_id endpoint_id had_success had_probe failures_after last_status last_delivered_at "
        "now most warn"),
    Hot("ledger_post", "ledger.store.posting.record_postings",
        "What a change posts.",
        "book_id now currency posting movement owing source_types source_ids customer_ids "
        "store_ids happened_at"),
    Hot("ledger_settle", "ledger.store.holds.record_settlement",
        "A hold that becomes a transfer.",
        "book_id now currency hold_id transfer_id credit_kind credit_owner amount kind"),
    Hot("ledger_reverse", "ledger.store.reversal.record_reversal",
        "The opposite of a transfer.",
        "book_id now currency transfer_id reversal_id source_type source_id happened_at "
        "sequence store_id"),
    Hot("idempotency_claim", "http.store.claim_key",
        "A key that was used, taken by the request that comes again.",
        "book_id surface key fingerprint now"),
    Hot("idempotency_find", "http.store.find_answer",
        "The answer that a key has.", "book_id surface key"),
    Hot("idempotency_keep", "http.store.insert_answer",
        "A key with its answer, in the transaction of the effect.",
        "book_id now surface key fingerprint answer"),
)  # fmt: skip
