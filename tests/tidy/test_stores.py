"""Stores: each table has one writer, each function a name that says what it costs and locks."""

import re

from statements.collect import Statement, asking, statements

from tests.tidy.ground import GROUND
from tests.tidy.tree import tidy
from tillhouse.app import ROOMS
from tillhouse.db.migrate import TABLE, load

# Table → the package that writes it. Anybody may read any table by join. A room says itself what
# it owns.
OWNERS = GROUND | {table: room.name for room in ROOMS for table in room.tables}

BRICK = "the text is the owner's own fragment: decision 21"

# An order is placed by one statement, in a transaction or as the whole of it.
_PLACES = (
    "orders.recording.store.record_statement.insert_order",
    "orders.recording.store.record_statement.insert_orders",
    "orders.recording.store.record_statement.insert_orders_of_newcomers",
)
_PLACED = {
    "ledger_accounts": BRICK,
    "ledger_balances": BRICK,
    "ledger_transfers": BRICK,
    "ledger_tally_changes": BRICK,
    "transactions": BRICK,
    "debts": BRICK,
    "stock_levels": BRICK,
    "stock_moves": BRICK,
    "webhook_events": BRICK,
    "webhook_deliveries": BRICK,
    "webhook_queue": BRICK,
    "idempotency_keys": BRICK,
    "kitchen_tickets": BRICK,
    "customers": BRICK,
    "customer_tallies": BRICK,
}

# Writes by another room than the owner, each with its reason.
GUESTS = {
    **{f"{place} {table}": why for place in _PLACES for table, why in _PLACED.items()},
    "access.store.vault.update_data_key businesses": "the columns of the wrapped key are access's",
    "access.store.sessions.update_password users": "the column of the password is access's",
    "access.store.sessions.update_hash users": "the column of the password is access's",
    "developer.store.keys.delete_key rate_cells": "the bucket goes with its key",
    "finance.closing.store.update_closed_until books": "the column of the closing is finance's",
    "messaging.store.messages.insert_outbound jobs": BRICK,
    "orders.kitchen.store.queue_due jobs": BRICK,
    "payins.store.connections.queue_unnamed jobs": BRICK,
    "payins.store.events.insert_event jobs": BRICK,
    "payins.store.events.record_event jobs": BRICK,
    "payouts.accounts.store.insert_account jobs": BRICK,
    "payouts.withdrawals.store.requests.insert_withdrawal jobs": BRICK,
    "webhooks.store.notices.queue_notices jobs": BRICK,
}

_WRITE = re.compile(
    r"\bINSERT\s+INTO\s+([a-z_]+)|\bDELETE\s+FROM\s+([a-z_]+)"
    r"|(?<!DO )(?<!FOR )(?<!KEY )\bUPDATE\s+(?!SET\b|OF\b|SKIP\b|NOWAIT\b)([a-z_]+)"
)
_LOCK = re.compile(r"\bFOR\s+(?:NO\s+KEY\s+)?(?:UPDATE|SHARE)\b|\bpg_advisory")

# First word of a function's name → what its statement must do (True), mustn't (False).
READS = {"writes": False, "locks": False}
WRITES = {"writes": True}
VERBS: dict[str, dict[str, bool]] = {
    "show": READS,
    "find": READS,
    "list": READS,
    "count": READS,
    "is": READS,
    "has": READS,
    "lock": {"writes": False, "locks": True},
    "insert": WRITES,
    "update": WRITES,
    "delete": WRITES,
    "upsert": WRITES,
    "claim": WRITES,
    "append": WRITES,
    "add": WRITES,
    "check": WRITES,
    "end": WRITES,
    "forget": WRITES,
    "give": WRITES,
    "keep": WRITES,
    "open": WRITES,
    "queue": WRITES,
    "record": WRITES,
    "revoke": WRITES,
    "take": WRITES,
    "touch": WRITES,
    "turn": {},
}


def _written(statement: Statement) -> set[str]:
    return {"".join(names) for names in _WRITE.findall(statement.sql)}


def test_every_table_has_one_writer() -> None:
    """The writers of a table are in one package, so its invariants are too."""
    found: list[str] = []
    guests: set[str] = set()
    for statement in statements()[0]:
        package = statement.name.split(".")[0]
        for table in _written(statement):
            if f"{statement.name} {table}" in GUESTS:
                guests.add(f"{statement.name} {table}")
            elif OWNERS.get(table) != package:
                found.append(f"{statement.place}: {table} is {OWNERS.get(table, 'in no list')}")
    assert guests == GUESTS.keys(), "GUESTS names a statement that is gone"
    tidy(
        "A table is written by its owner only: call the owner, or name a new table in the `tables` "
        "of its room.",
        found,
    )


def test_every_table_has_an_owner() -> None:
    """A table that no room names is nobody's, and a name without a table is a mistake."""
    schema = "\n".join([TABLE, *(step.sql for step in load())])
    made = set(
        re.findall(r"^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?([a-z_]+) \(", schema, re.M)
    )
    found = [f"{table} is in no room" for table in made - OWNERS.keys()]
    found += [f"{table} of {OWNERS[table]} is no table" for table in OWNERS.keys() - made]
    tidy("Every table belongs to one room, which names it in `tables`.", found)


def test_store_functions_say_what_they_do() -> None:
    """The first word of a name tells whether the function reads, locks or writes."""
    found: list[str] = []
    for statement in statements()[0]:
        verb = statement.function.split("_")[0]
        does = {"writes": bool(_written(statement)), "locks": bool(_LOCK.search(statement.sql))}
        for what, wanted in VERBS.get(verb, {}).items():
            if does[what] != wanted:
                found.append(f"{statement.place}: {what} {'nothing' if wanted else 'something'}")
    found += [
        f"{place.place}: {place.function.name.split('_')[0]} is no verb of VERBS"
        for place in asking()
        if place.function.name.split("_")[0] not in VERBS
    ]
    tidy(
        "A store's function begins with a word that says what it costs and locks: "
        f"{', '.join(VERBS)}.",
        found,
    )
