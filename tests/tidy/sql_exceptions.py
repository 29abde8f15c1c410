"""Statements that may do what others may not, each with its reason."""

# Statements that need no book, each with its reason.
BOOKLESS = {
    "jobs.store.find_next_due": "one queue for all books",
    "voice.dispatching.store.leases.has_left_behind": "one queue for all books",
    "voice.dispatching.store.leases.has_calls": "one queue for all books",
    "access.store.keys.delete_full_buckets": "a chore deletes by age, whosever it is",
    "access.store.usage.delete_old_usage": "a chore deletes by age, whosever it is",
    "http.store.delete_old_days": "a chore deletes by age, whosever it is",
    "http.store.delete_old_keys": "a chore deletes by age, whosever it is",
    "jobs.store.delete_dead": "a chore deletes by age, whosever it is",
    "messaging.attachments.store.delete_uploading": "a chore deletes by age, whosever it is",
    "payins.store.events.delete_old_events": "a chore deletes by age, whosever it is",
    "accounts.members.store.delete_old_invitations": "a chore deletes by age, whosever it is",
    "orders.listing.store.tallies.delete_empty_tallies": "a chore deletes what sums to nothing",
}

_COUNTS_STUCK = "the index holds what is on its way, and a command counts it"
_LISTS_STUCK = "the index holds dead jobs alone, and a command looks"

# Statements that may read a whole table or index, each with its reason.
SCANS = {
    "folios.store.audits.list_hotels": "looks once into each hotel, once a minute",
    "http.store.show_answer_storage": "a row per book and day, twice a minute",
    "orders.storage.store.show_order_storage": "a row per book, twice a minute",
    "messaging.attachments.store.show_messaging_storage": "a row per book, twice a minute",
    "messaging.storage.store.show_message_storage": "a row per book, twice a minute",
    "access.store.vault.find_root": "the table has one row",
    "access.store.vault.update_root": "the table has one row",
    "access.store.vault.lock_old_data_keys": "a new master key wraps the keys of every business",
    "accounts.store.list_businesses": "a command lists every business",
    "finance.reconciling.store.list_books": "a command reconciles every book",
    "payins.store.waiting.count_waiting": "the index holds what waits, and a command counts it",
    "payouts.withdrawals.store.proving.count_stuck_withdrawals": _COUNTS_STUCK,
    "payouts.withdrawals.store.proving.list_stuck_withdrawals": _LISTS_STUCK,
    "folios.returning.store.count_stuck_folio_returns": _COUNTS_STUCK,
    "folios.returning.store.list_stuck_folio_returns": _LISTS_STUCK,
    "orders.returning.store.count_stuck_refunds": _COUNTS_STUCK,
    "orders.returning.store.list_stuck_refunds": _LISTS_STUCK,
    "access.store.keys.delete_full_buckets": "once a day; an index of the column that each request "
    "writes would cost them all",
    "orders.listing.store.tallies.delete_empty_tallies": "once a day; an index of the sums would "
    "cost every fold",
    "orders.listing.store.tallies.update_order_tally_changes": "folds all that has gathered",
    "ledger.store.sums.update_ledger_tally_changes": "folds all that has gathered",
    "ledger.store.sums.update_transaction_tally_changes": "folds all that has gathered",
    "finance.reconciling.store.list_connected": "a command looks at every connection",
    "hotel.reservations.store.tallies.update_hotel_stay_tally_changes": "folds all that has "
    "gathered",
    "messaging.store.conversations.update_conversation_tally_changes": "folds all that has "
    "gathered",
    "webhooks.store.queue.record_batch": "planned anew for each batch, by the sizes of the moment",
    "webhooks.store.queue.update_endpoint_results": "planned anew for each batch",
    "webhooks.store.queue.claim_batch": "planned anew for each batch",
    "webhooks.store.queue.end_stranded": "planned anew each time",
    "webhooks.store.secrets.list_apps_without_secret": "a start looks once for what is missing",
}

# Tables that a statement reads without a condition on their book: which, and why.
_CHORE = "a chore deletes by age, whosever it is"
_QUEUE = "one queue for all books"
_FOLD = "folds what has gathered, of every book"
_SECRET = "a secret in the address finds the row, and the row names its book"
EVERY_BOOK = {
    "access.store.keys.check_keys": ("api_keys", _SECRET),
    "checkout.store.links.update_expired": ("payment_links", _QUEUE),
    "checkout.store.pages.find_page": ("payment_links", _SECRET),
    "checkout.store.pages.list_versions": ("payment_links", _SECRET),
    "developer.store.keys.list_beyond": ("api_keys", "a command looks"),
    "developer.store.keys.update_noted": ("api_keys", "a start looks for what is to be told"),
    "finance.reconciling.store.list_connected": ("payment_providers", "a command looks"),
    "hotel.reservations.store.tallies.update_hotel_stay_tally_changes": (
        "hotel_stay_tally_changes",
        _FOLD,
    ),
    "http.store.add_new_answers": ("answer_storage idempotency_keys", _FOLD),
    "http.store.show_answer_storage": ("answer_storage", "a row per book and day, twice a minute"),
    "jobs.store.list_dead": ("jobs", "a command looks"),
    "jobs.store.update_ready": ("jobs", _QUEUE),
    "ledger.store.holds.end_expired": ("ledger_holds", _QUEUE),
    "ledger.store.sums.update_ledger_tally_changes": ("ledger_tally_changes", _FOLD),
    "ledger.store.sums.update_transaction_tally_changes": ("transaction_tally_changes", _FOLD),
    "messaging.attachments.store.show_messaging_storage": ("messaging_storage", "a row per book"),
    "messaging.storage.store.show_message_storage": ("message_storage", "a row per book"),
    "messaging.store.numbers.find_hooked": ("messaging_numbers", _SECRET),
    "messaging.store.conversations.update_conversation_tally_changes": (
        "conversation_tally_changes",
        _FOLD,
    ),
    "orders.kitchen.store.queue_due": ("orders", _QUEUE),
    "orders.listing.store.tallies.update_order_tally_changes": ("order_tally_changes", _FOLD),
    "folios.returning.store.count_stuck_folio_returns": ("folio_returns", "a command counts"),
    "orders.returning.store.count_stuck_refunds": ("refunds", "a command counts"),
    "orders.receipts.store.find_receipt": ("receipts", _SECRET),
    "orders.storage.store.show_order_storage": ("order_storage", "a row per book, twice a minute"),
    "payins.store.payins.is_recorded_elsewhere": ("payins", "a payment is of one book"),
    "payins.store.waiting.count_waiting": ("payins", "a command counts"),
    "payins.disputes.store.lock_claim": ("ledger_balances", _QUEUE),
    "payouts.withdrawals.store.dues.lock_due": ("ledger_balances", _QUEUE),
    "payouts.withdrawals.store.proving.count_stuck_withdrawals": (
        "withdrawals",
        "a command counts",
    ),
    "voice.dispatching.store.leases.lock_lapsed": ("voice_calls", _QUEUE),
    "voice.dispatching.store.leases.lock_expired": ("voice_calls", _QUEUE),
    "voice.recordings.store.delete_recordings": ("voice_recordings", _CHORE),
    "webhooks.store.deliveries.list_deliveries_of_endpoint": (
        "webhook_deliveries",
        "the endpoint's id, which its business is asked for",
    ),
    "webhooks.store.deliveries.list_deliveries": (
        "webhook_deliveries",
        "the ids of apps, which are the business's",
    ),
    "webhooks.store.queue.claim_batch": ("webhook_queue", _QUEUE),
    "webhooks.store.queue.end_stranded": ("webhook_queue", _QUEUE),
    "webhooks.store.secrets.list_apps_without_secret": ("developer_apps", "a start looks once"),
}

# Tables of a handful of rows.
SMALL = {"installation"}
