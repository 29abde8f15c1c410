"""Hooks are checked, stored first, looked up once, and never dropped."""

import asyncio
import json
from datetime import timedelta
from decimal import Decimal

import pytest

from tests.api import Api
from tests.make import Make
from tests.payins.collecting import Collecting
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Missing
from tillhouse.kit.ids import new_id
from tillhouse.payins import hooks
from tillhouse.payins.jobs import KEPT_FOR, chores
from tillhouse.payins.routes import BODY_BYTES_MAX
from tillhouse.payins.store.events import delete_old_events


def told(**data: object) -> bytes:
    """A hook of the sandbox."""
    return json.dumps({"event": "payment", "data": data}).encode()


async def test_a_hook_is_stored_then_processed(till: Collecting) -> None:
    """Between the two it waits, whatever happens to the process."""
    account = await till.account()
    (payment_id,) = await till.simulate(account)
    await till.sql.execute("DELETE FROM jobs WHERE book_id = $1", till.book.id)
    await till.sql.execute("DELETE FROM provider_events WHERE book_id = $1", till.book.id)
    assert await till.hook(told(transactionId=str(payment_id), reference=account.reference))
    assert await till.events() == [(False, None)]
    assert await till.payins() == []
    await till.work()
    assert await till.events() == [(True, "payments looked up: 1, of them news: 1")]
    assert [verb for verb, _, _ in till.applied] == ["applied"]


async def test_amounts_come_from_the_provider(till: Collecting) -> None:
    """A hook that exaggerates changes nothing."""
    account = await till.account()
    (payment_id,) = await till.simulate(account, "under")
    told_more = told(transactionId=str(payment_id), amount=999999, currency="USD")
    await till.hook(told_more)
    await till.work()
    (payin,) = await till.payins()
    assert (payin["amount"], payin["currency"]) == (Decimal(500), "NGN")


async def test_fifty_of_the_same_hook_are_one(till: Collecting) -> None:
    """One row, one job, one effect."""
    account = await till.account()
    (payment_id,) = await till.simulate(account)
    body = told(transactionId=str(payment_id), reference=account.reference)
    news = await asyncio.gather(*(till.hook(body) for _ in range(50)))
    assert sum(news) == 1
    await asyncio.gather(*(till.work() for _ in range(3)))
    await till.work()
    assert len(await till.payins()) == 1
    assert [verb for verb, _, _ in till.applied] == ["applied"]
    assert await till.faults() == []


async def test_what_is_not_signed_is_not_stored(till: Collecting) -> None:
    """Nor what is for a book that isn't there, or has no such provider."""
    body = told(reference="x")
    for bad in ("0" * 64, "x", "é"):
        with pytest.raises(hooks.PaymentHookNotSigned):
            await till.hook(body, bad)
    for headers in ({}, {"x-sandbox-signature": ""}):
        with pytest.raises(hooks.PaymentHookNotSigned):
            await hooks.check(till.services, "sandbox", headers)
    with pytest.raises(Missing):
        await hooks.check(till.services, "nobody", {"x-sandbox-signature": "x"})
    signed = {"x-sandbox-signature": "x", "x-paystack-signature": "x"}
    for provider, book_id in (("sandbox", new_id()), ("paystack", till.book.id)):
        with pytest.raises(Missing):
            await hooks.take(till.services, provider, book_id, signed, body, now())
    assert await till.events() == []


async def test_the_route_answers_and_bounds(till: Collecting, make: Make) -> None:
    """200 for what is signed; 401, 404, 405 and 413 for the rest."""
    api: Api = make.anybody
    path = f"/hooks/sandbox/{till.book.id}"
    body = told(reference="x")
    signature = till.sign(body)
    headers = {"x-sandbox-signature": signature, "content-type": "application/json"}
    assert (await api.request("POST", path, raw=body, headers=headers)).status == 200
    assert (await api.request("POST", path, raw=body + b" ", headers=headers)).status == 401
    assert (await api.request("POST", path, raw=body)).status == 401
    assert (await api.request("GET", path)).status == 405
    for wrong in ("/hooks/sandbox/x", "/hooks/nobody/" + str(till.book.id)):
        assert (await api.request("POST", wrong, raw=body, headers=headers)).status == 404
    large = b" " * (BODY_BYTES_MAX + 1)
    assert (await api.request("POST", path, raw=large, headers=headers)).status == 413
    assert len(await till.events()) == 1


async def test_what_is_cut_short_moved_or_far_too_long_is_refused(
    till: Collecting, make: Make
) -> None:
    """A truncated body, the signature of another one, and a MiB with a good signature."""
    api: Api = make.anybody
    path = f"/hooks/sandbox/{till.book.id}"
    (payment_id,) = await till.simulate(await till.account())
    await till.sql.execute("DELETE FROM jobs WHERE book_id = $1", till.book.id)
    await till.sql.execute("DELETE FROM provider_events WHERE book_id = $1", till.book.id)
    heard, other = told(transactionId=str(payment_id)), told(transactionId=str(new_id()))
    padded = heard + b" " * (1024 * 1024 - len(heard))
    for body, signed, status in (
        (heard[:-1], heard, 401),
        (heard[: len(heard) // 2], heard, 401),
        (b"", heard, 401),
        (heard, other, 401),
        (padded, padded, 413),
    ):
        headers = {"x-sandbox-signature": till.sign(signed)}
        answer = await api.request("POST", path, raw=body, headers=headers)
        assert answer.status == status, (len(body), answer)
    await till.work()
    assert (await till.events(), await till.payins()) == ([], [])


async def test_rubbish_with_a_good_signature_harms_nobody(till: Collecting) -> None:
    """It is stored, explained, and what comes after it is processed."""
    for body in (b"", b"\xff", b"[]", b'{"event": "payment", "data": 1}', b'{"event": 5}'):
        assert await till.hook(body)
    await till.pay(await till.account())
    assert len(await till.payins()) == 1
    assert all(is_processed for is_processed, _ in await till.events())


async def test_what_nobody_knows_is_asked_for_again_then_explained(till: Collecting) -> None:
    """A provider that tells before it knows is asked some times."""
    await till.hook(told(transactionId=str(new_id())))
    await till.work()
    assert await till.events() == [(False, None)]
    for minutes in range(1, 10):
        await till.later(minutes=minutes)
    assert await till.events() == [(True, "the provider knows no such payment")]


async def test_an_account_that_is_committed_late_still_gets_its_payment(till: Collecting) -> None:
    """The hook comes first; when nobody ever knows the account, the money is kept unapplied."""
    account = await till.account()
    hide = "UPDATE virtual_accounts SET reference = $2, account_number = $3 WHERE book_id = $1"
    await till.sql.execute(hide, till.book.id, "hidden", "0")
    await till.simulate(account)
    await till.work()
    assert await till.payins() == []
    await till.sql.execute(hide, till.book.id, account.reference, account.account_number)
    await till.later(minutes=1)
    assert [verb for verb, _, _ in till.applied] == ["applied"]
    await till.sql.execute(hide, till.book.id, "hidden again", "1")
    await till.simulate(account)
    for minutes in range(2, 10):
        await till.later(minutes=minutes)
    conditions = [payin["conditions"] for payin in await till.payins()]
    assert sorted(conditions) == [["over"], ["unknown"]]
    assert await till.faults() == []


async def test_a_hook_of_a_payout_goes_to_who_sent_it(till: Collecting) -> None:
    """As a job with all that is needed to ask."""
    await till.hook(b'{"event": "payout", "data": {"reference": "p-1", "state": "reversed"}}')
    await till.hook(b'{"event": "refund", "data": {"reference": "r-1"}}')
    await till.work()
    query = "SELECT kind, payload FROM jobs WHERE book_id = $1 AND kind ~ '^heard_' ORDER BY kind"
    queued = await till.sql.fetch(query, till.book.id)
    assert [(row["kind"], json.loads(row["payload"])["reference"]) for row in queued] == [
        ("heard_payout", "p-1"),
        ("heard_refund", "r-1"),
        ("heard_stay_refund", "r-1"),
    ]
    assert {outcome for _, outcome in await till.events()} == {"passed on"}


async def test_old_events_are_deleted_once_they_are_processed(till: Collecting) -> None:
    """An event that still waits is kept, however old it is."""
    assert "old_provider_events" in [kind.name for kind in chores(till.services)]
    await till.pay(await till.account())
    await till.hook(told(transactionId=str(new_id())))
    query = "UPDATE provider_events SET received_at = $2 WHERE book_id = $1"
    await till.sql.execute(query, till.book.id, now() - KEPT_FOR - timedelta(days=1))
    async with till.services.pool.transaction() as db:
        await delete_old_events(db, now() - KEPT_FOR, 1000)
    assert [is_processed for is_processed, _ in await till.events()] == [False]
