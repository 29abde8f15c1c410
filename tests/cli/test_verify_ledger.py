"""`tillhouse verify` on the books of a business: what is wrong is named, and where."""

from uuid import UUID

import asyncpg
import pytest

from tests.cli.command import Command
from tests.cli.test_commands import fetch
from tillhouse.db.embedded import Embedded
from tillhouse.kit.ids import new_id, short_code

_SOLD = """
    INSERT INTO orders (book_id, id, short_code, status, summary, currency, subtotal_amount,
        discount_amount, service_charge_amount, tax_amount, exclusive_tax_amount, total_amount,
        amount_paid, payment_method, channel, recorded_by_id, recorded_by_name, entry_source,
        occurred_at, created_at, updated_at)
    SELECT b.id, $2, $3, 'scheduled', '1 × Rice', 'NGN', 1000, 0, 0, 0, 0, 1000, 400, 'cash',
        'other', b.id, 'Ada Owner', 'api', now(), now(), now()
    FROM books b WHERE b.business_id = $1 AND b.environment = 'live'
"""


async def test_verify_names_the_order_that_is_wrong(
    command: Command, business: str, embedded: Embedded
) -> None:
    """An order that says it was paid, without a payment: book, order and sums, and exit code 1."""
    assert "ledgers" in command.run("verify").stdout
    order_id, code = new_id(), short_code()
    await fetch(embedded, _SOLD, UUID(business), order_id, code)
    try:
        [broken] = command.json("verify", code=1)["broken"]
        shown = command.run("verify", code=1).stdout
    finally:
        await fetch(embedded, "DELETE FROM orders WHERE id = $1", order_id)
    assert broken["businessId"] == business
    assert broken.keys() == {"businessId", "ledgerFaults"}
    first = broken["ledgerFaults"][0]
    assert first == {
        "environment": "live",
        "subject": "order",
        "id": str(order_id),
        "what": f"{code}: its amount paid is 400, its payments come to 0",
    }
    assert str(order_id) in shown
    assert "its payments come to 0" in shown
    assert command.json("verify")["broken"] == []


# The hash of one event takes longer than any statement of a request may.
_SLOW = """
    ALTER FUNCTION audit_hash(bytea, audit_events) RENAME TO quick_audit_hash;
    CREATE FUNCTION audit_hash(previous bytea, e audit_events) RETURNS bytea LANGUAGE plpgsql AS $$
    BEGIN
        IF e.business_id = '%s' AND e.event_type = 'business.registered' THEN
            PERFORM pg_sleep(15.5);
        END IF;
        RETURN quick_audit_hash(previous, e);
    END $$;
"""
_QUICK = """
    DROP FUNCTION audit_hash(bytea, audit_events);
    ALTER FUNCTION quick_audit_hash(bytea, audit_events) RENAME TO audit_hash;
"""


@pytest.mark.proof
async def test_verify_takes_as_long_as_a_large_book_needs(
    command: Command, business: str, embedded: Embedded
) -> None:
    """Neither the server nor the client ends a statement that takes longer than a request may."""
    connection = await asyncpg.connect(embedded.url)
    await connection.execute(_SLOW % business)
    try:
        assert command.json("verify")["broken"] == []
    finally:
        await connection.execute(_QUICK)
        await connection.close()
