"""`tillhouse reconcile` and `doctor` on a book that drifted: told, planned, mended, once."""

import json

from tests.cli.command import Command
from tests.cli.test_commands import fetch
from tillhouse.db.embedded import Embedded
from tillhouse.kit.ids import new_id

_PAID = """
    INSERT INTO sandbox_payments (book_id, id, reference, account_number, state, amount, fee,
        currency, payer_name, paid_at)
    SELECT b.id, $2, NULL, '0123456789', 'successful', 500, 5, 'NGN', 'Bola', now()
    FROM books b WHERE b.business_id = $1::text::uuid AND b.environment = 'test'
"""
# Of an order that nobody made: its keys rest for this statement.
_RETURNING = """
    WITH resting AS MATERIALIZED (
        SELECT set_config('session_replication_role', 'replica', true) AS role
    )
    INSERT INTO refunds (book_id, id, order_id, method, amount, status, hold_id, recorded_by_id,
        recorded_by_name, happened_at, created_at)
    SELECT b.id, $2::uuid, $2::uuid, 'cloove_pay', 500, 'pending', $2::uuid, $2::uuid, 'Ada',
        now(), now()
    FROM resting, books b
    WHERE resting.role <> '' AND b.business_id = $1::text::uuid AND b.environment = 'test'
"""
_WORKED_ON = """
    INSERT INTO jobs (book_id, id, kind, subject_id, due_at, created_at)
    SELECT book_id, id, 'refund_look', id, now() + interval '1 day', now()
    FROM refunds WHERE id = $1
"""
_WAITING = """
    INSERT INTO payins (book_id, id, provider, provider_transaction_id, status, target_type,
        target_id, amount, fee, currency, paid_at, created_at, updated_at)
    SELECT b.id, $2::uuid, 'sandbox', $2::uuid::text, 'received', 'order', $2::uuid, 500, 0, 'NGN',
        at, at, at
    FROM books b, (SELECT now() - interval '2 hours' AS at) t
    WHERE b.business_id = $1::text::uuid AND b.environment = 'test'
"""
_FREE = "UPDATE sandbox_payments SET fee = 0 WHERE id = $1"


async def test_money_that_was_never_told_of_is_found_planned_and_recorded(
    command: Command, business: str, embedded: Embedded
) -> None:
    """Exit code 1 while something differs, and 0 once it is mended."""
    args = ["reconcile", "--business", business]
    assert command.run(*args).stdout.startswith("Nothing differs in 2 books")
    payment = new_id()
    await fetch(embedded, _PAID, business, payment)
    report = command.json(*args, code=1)
    assert [
        (one["kind"], one["id"], one["repair"], one["environment"], one["provider"])
        for one in report["differences"]
    ] == [("payment_unrecorded", str(payment), "record", "test", "sandbox")]
    shown = command.run(*args, code=1).stdout
    assert "500" in shown
    assert "ask the provider again" not in shown
    planned = command.run(*args, "--plan", code=1).stdout
    assert "ask the provider again, and record what it says" in planned
    # It was a look: the plan changed nothing.
    assert command.json(*args, code=1)["differences"] == report["differences"]
    repairing = command.run(*args, "--repair", "--json")
    _, _, plan = repairing.stderr.partition("\nPlan:\n")
    _, line = plan.splitlines()
    assert "500" in line
    assert line.strip().endswith("ask the provider again, and record what it says")
    mended = json.loads(repairing.stdout)
    assert (mended["differences"], mended["repaired"]) == ([], report["differences"])
    again = command.json(*args, "--repair")
    assert (again["differences"], again["repaired"], again["payments"]) == ([], [], 1)
    assert command.json("verify")["broken"] == []


async def test_what_is_yet_to_be_booked_is_told_on_its_day(
    command: Command, business: str, embedded: Embedded
) -> None:
    """A payment that its order hasn't taken: it is at the provider, and the ledger lacks it."""
    payment = new_id()
    await fetch(embedded, _PAID, business, payment)
    await fetch(embedded, _WAITING, business, payment)
    await fetch(embedded, _FREE, payment)
    try:
        shown = command.run("reconcile", "--business", business, code=1).stdout
        [of] = command.json("reconcile", "--business", business, code=1)["days"]
    finally:
        await fetch(embedded, "DELETE FROM payins WHERE id = $1", payment)
        await fetch(embedded, "DELETE FROM sandbox_payments WHERE id = $1", payment)
    assert "every day agrees, but for what is yet to be booked." in shown
    assert "payments +500 (+500 yet to be booked)" in shown
    day = of["days"][-1]
    assert (day["difference"], day["toBook"]["payments"]) == (500, 500)


async def test_what_names_nothing_is_refused(command: Command, business: str) -> None:
    """A usage error, by its exit code: that nothing differs in nothing would say nothing."""
    nobody, mine = str(new_id()), ("--business", business)
    for args, said in (
        (("--business", nobody), f"no business {nobody}"),
        (("--book", nobody), "no environment"),
        ((*mine, "--provider", "stripe"), "tillhouse providers list"),
        (("--provider", "paypal"), "must be one of sandbox, paystack"),
        (("--from", "2031-02-01", "--to", "2031-01-31"), "--from must be before --to"),
        (("--from", "2199-01-01"), "--from must be before --to"),
    ):
        refused = " ".join(command.refusal("reconcile", *args, code=2).replace("│", " ").split())
        assert said in refused, refused
    one_day = ("--from", "2031-01-31", "--to", "2031-01-31")
    assert "Nothing differs" in command.run("reconcile", *mine, *one_day).stdout
    assert "Nothing differs" in command.run("reconcile", *mine, "--provider", "sandbox").stdout


async def test_a_payment_that_waits_for_hours_is_told_by_doctor_and_verify(
    command: Command, business: str, embedded: Embedded
) -> None:
    """Both name it, and what to do."""
    payin = new_id()
    await fetch(embedded, _WAITING, business, payin)
    try:
        told = [one for one in command.json("doctor")["findings"] if one["about"] == "money"]
        [broken] = command.json("verify", code=1)["broken"]
        [one] = [
            one
            for one in command.json("reconcile", "--business", business, code=1)["differences"]
            if one["kind"] == "payment_unapplied"
        ]
    finally:
        await fetch(embedded, "DELETE FROM payins WHERE id = $1", payin)
    assert [(one["state"], one["message"]) for one in told] == [
        (
            "unsafe",
            "1 payments wait to be applied in 1 environments: run `tillhouse reconcile --plan`, "
            "then `--repair`.",
        )
    ]
    assert "waiting payin" in {fault["subject"] for fault in broken["ledgerFaults"]}
    assert (one["id"], one["repair"]) == (str(payin), "apply")
    [fine] = [one for one in command.json("doctor")["findings"] if one["about"] == "money"]
    assert fine["state"] == "fine"


async def test_a_refund_that_nothing_works_on_is_told_by_doctor(
    command: Command, business: str, embedded: Embedded
) -> None:
    """As a withdrawal is; one that a job works on isn't."""
    refund = new_id()
    await fetch(embedded, _RETURNING, business, refund)
    try:
        [told] = [one for one in command.json("doctor")["findings"] if one["about"] == "money"]
        await fetch(embedded, _WORKED_ON, refund)
        [fine] = [one for one in command.json("doctor")["findings"] if one["about"] == "money"]
    finally:
        await fetch(embedded, "DELETE FROM jobs WHERE subject_id = $1", refund)
        await fetch(embedded, "DELETE FROM refunds WHERE id = $1", refund)
    words = "1 refunds have no job any more in 1 environments"
    assert (told["state"], told["message"].partition(":")[0]) == ("unsafe", words)
    assert fine["state"] == "fine"


def test_wrong_options_are_refused(command: Command) -> None:
    """With what to give instead."""
    assert "--from" in command.refusal("reconcile", "--from", "yesterday", code=2)
    assert "must be an id" in command.refusal("reconcile", "--book", "x", code=2)


def test_what_lies_at_each_provider_is_told_beside_the_books(
    command: Command, business: str
) -> None:
    """Also that one tells nothing of it, which is no difference."""
    [told] = command.json("reconcile", "--business", business)["balances"]
    assert told["provider"] == "sandbox"
    assert (told["environment"], told["currency"]) == ("test", "NGN")
    assert (told["available"], told["pending"]) == (None, None)
    assert told["unread"] == "it tells no balance by its API"
    shown = command.run("reconcile", "--business", business).stdout
    assert "At the providers now, beside the books:" in shown
    assert "it tells no balance by its API" in shown
