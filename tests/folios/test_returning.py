"""Deposits of stays go back through the provider by which they came: once, whatever breaks."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import asyncpg
import pytest

from tests.folios.giving import HOUR, MINUTES_5, GivingLodge
from tests.make import Business, Make
from tests.money.crashing import DEAD, Crash, assert_cut, at_points
from tests.money.world import World, standing_idle
from tests.payouts.bank import Manner
from tillhouse.folios.returning.sending import kinds
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.payins.hooks import HeardReturn


@pytest.fixture
async def lodge(business: Business, sql: asyncpg.Connection) -> AsyncIterator[GivingLodge]:
    """Two rooms at 100 a night, and a provider that gives back; the books are proven at the end."""
    opened = await GivingLodge.giving(business, sql)
    yield opened
    assert await opened.faults() == []


async def test_a_deposit_goes_back_the_way_it_came(lodge: GivingLodge) -> None:
    """Held and on its way; then a refund of the stay, out of the wallet, told of."""
    stay = await lodge.deposited()
    balance, _ = await lodge.wallet()
    folio = await lodge.give_back(stay, 60, "cloove_pay", reason="Fell ill")
    [refund] = folio["refunds"]
    assert (refund["status"], refund["amount"], refund["provider"]) == ("pending", 60, "sandbox")
    assert refund["paymentId"] == folio["payments"][0]["id"]
    assert (folio["unspentAmount"], folio["paymentsTotal"]) == (0, 0)
    assert await lodge.wallet() == (balance, 60)
    await lodge.work()
    folio = await lodge.folio(stay)
    assert folio["refunds"][0]["status"] == "successful"
    back = folio["payments"][-1]
    assert (back["kind"], back["method"], back["amount"]) == ("refund", "cloove_pay", 60)
    assert (back["reason"], folio["unspentAmount"]) == ("Fell ill", 0)
    assert await lodge.wallet() == (balance - 60, 0)
    [told] = await lodge.outcomes()
    assert (told["refundStatus"], told["amount"]) == ("successful", 60)
    assert told["hotelReservationId"] == stay["id"]
    assert told["transactionId"] == back["transactionId"]
    assert set(lodge.bank.returned.values()) == {1}


async def test_the_sandbox_and_reconcile_agree(lodge: GivingLodge) -> None:
    """A part, then the rest, by the method that is left out; the statement knows both."""
    stay = await lodge.deposited(100)
    for amount in (30, 70):
        body = {"amount": amount}
        await lodge.api.post(f"/v1/hotel/reservations/{stay['id']}/refunds", body, status=201)
        await lodge.work(by_sandbox=True)
    assert [one["status"] for one in (await lodge.folio(stay))["refunds"]] == ["successful"] * 2
    assert await lodge.differences() == []
    query = "SELECT count(*) FROM sandbox_refunds WHERE book_id = $1"
    assert await lodge.sql.fetchval(query, lodge.book_id) == 2


async def test_a_cancelled_stay_gives_its_deposit_back(lodge: GivingLodge) -> None:
    """Where that is wished: what came by the provider goes back, what came in cash stays."""
    stay = await lodge.deposited()
    await lodge.pay(stay, 25)
    path = f"/v1/hotel/reservations/{stay['id']}/cancel"
    body = {"reason": "Fell ill", "refund_deposit": True}
    answer = await lodge.api.post(path, body, status=200)
    assert answer.data["status"] == "cancelled"
    assert answer.json["meta"] == {"returningAmount": 60, "unspentAmount": 25}
    assert "25.00 USD stay the guest's credit" in answer.json["message"]
    assert f"POST /v1/hotel/reservations/{stay['id']}/refunds" in answer.json["message"]
    await lodge.work()
    folio = await lodge.folio(stay)
    assert [(one["amount"], one["status"]) for one in folio["refunds"]] == [(60, "successful")]
    assert (folio["unspentAmount"], folio["paymentsTotal"]) == (25, 25)
    assert folio["refunds"][0]["reason"] == "Fell ill"
    await lodge.api.post(path, body, status=400)
    other = await lodge.deposited(40)
    path = f"/v1/hotel/reservations/{other['id']}/cancel"
    answer = await lodge.api.post(path, {"reason": "Fell ill"}, status=200)
    assert answer.json["meta"] == {"returningAmount": 0, "unspentAmount": 40}
    folio = await lodge.folio(other)
    assert (folio["refunds"], folio["unspentAmount"]) == ([], 40)


async def test_a_cancelled_stay_without_money_leaves_none(lodge: GivingLodge) -> None:
    """The answer is short."""
    stay = await lodge.book()
    answer = await lodge.api.post(f"/v1/hotel/reservations/{stay['id']}/cancel", {}, status=200)
    assert answer.json["message"] == "Reservation cancelled"
    assert answer.json["meta"] == {"returningAmount": 0, "unspentAmount": 0}


async def test_a_wallet_that_lacks_it_cancels_nothing(lodge: GivingLodge) -> None:
    """The refusal names what lacks and the way out, and the stay is booked as before."""
    stay = await lodge.deposited(2000)
    await lodge.give_back(stay, 1000, "cloove_pay")
    await lodge.work()
    await lodge.sql.execute(
        "UPDATE ledger_balances SET held = credits - debits WHERE book_id = $1 AND kind = 'wallet'",
        lodge.book_id,
    )
    path = f"/v1/hotel/reservations/{stay['id']}/cancel"
    refused = await lodge.api.post(path, {"refund_deposit": True}, status=400)
    assert "The wallet holds less than this refund takes: 0 of 1000" in refused.json["message"]
    assert "Cancel without refund_deposit" in refused.json["message"]
    await lodge.sql.execute(
        "UPDATE ledger_balances SET held = 0 WHERE book_id = $1 AND kind = 'wallet'", lodge.book_id
    )
    assert (await lodge.api.get(f"/v1/hotel/reservations/{stay['id']}")).data["status"] == "booked"


async def test_two_deposits_of_which_the_wallet_covers_one_name_their_sum(
    lodge: GivingLodge,
) -> None:
    """The first is held before the second lacks: the refusal counts both, and keeps neither."""
    stay = await lodge.deposited(600)
    await lodge.api.patch(f"/v1/hotel/reservations/{stay['id']}", {"deposit_amount": 1200})
    await lodge.pay_link(await lodge.link(stay))
    await lodge.sql.execute(
        "UPDATE ledger_balances SET held = credits - debits - 700 "
        "WHERE book_id = $1 AND kind = 'wallet'",
        lodge.book_id,
    )
    path = f"/v1/hotel/reservations/{stay['id']}/cancel"
    refused = await lodge.api.post(path, {"refund_deposit": True}, status=400)
    assert ": 700" in refused.json["message"]
    assert " of 1200" in refused.json["message"]
    assert (await lodge.folio(stay))["refunds"] == []
    await lodge.sql.execute(
        "UPDATE ledger_balances SET held = 0 WHERE book_id = $1 AND kind = 'wallet'", lodge.book_id
    )


async def test_what_can_not_go_back_is_refused(lodge: GivingLodge) -> None:
    """More than is unspent, money that came in cash, and a method that nobody can guess."""
    stay = await lodge.deposited()
    refused = await lodge.give_back(stay, 61, "cloove_pay", status=400)
    assert "at most 60" in refused.json["message"]
    other = await lodge.book()
    await lodge.pay(other, 50)
    refused = await lodge.give_back(other, 50, "cloove_pay", status=422)
    assert refused.json["details"][0]["field"] == "method"
    path = f"/v1/hotel/reservations/{other['id']}/refunds"
    refused = await lodge.api.post(path, {"amount": 50}, status=422)
    assert refused.json["details"][0]["message"].startswith("is required")
    assert (await lodge.give_back(other, 50, "card"))["payments"][-1]["method"] == "pos"


async def test_money_on_its_way_pays_no_order(lodge: GivingLodge) -> None:
    """An order that comes meanwhile is owed; a link asks for it."""
    stay = await lodge.deposited(check_in=True)
    await lodge.give_back(stay, 60, "cloove_pay")
    await lodge.charge(stay, 45)
    await lodge.pay(stay, 5)
    assert (await lodge.folio(stay))["amountOwed"] == 40
    assert (await lodge.link(stay))["amount"] >= 40
    lodge.bank.manners.append("refused")
    await lodge.work()
    folio = await lodge.folio(stay)
    assert (folio["refunds"][0]["status"], folio["unspentAmount"]) == ("failed", 60)
    assert "too old" in folio["refunds"][0]["failureReason"]
    await lodge.pay(stay, 1)
    assert (await lodge.folio(stay))["amountOwed"] == 0
    [told] = await lodge.outcomes()
    assert told["refundStatus"] == "failed"
    _, held = await lodge.wallet()
    assert held == 0


@pytest.mark.parametrize("manner", ["lost", "late", "slow", "away", "broken", "bug"])
async def test_whatever_the_provider_answers_it_goes_back_once(
    lodge: GivingLodge, manner: Manner
) -> None:
    """Executed or not, whatever the answer was: the provider is asked until it is known."""
    stay = await lodge.deposited()
    lodge.bank.manners.append(manner)
    await lodge.give_back(stay, 60, "cloove_pay")
    await lodge.work()
    lodge.bank.catch_up()
    lodge.bank.refunds = dict.fromkeys(lodge.bank.refunds, "successful")
    for after in (MINUTES_5, MINUTES_5, HOUR):
        await lodge.age(HOUR)
        await lodge.work(after)
    refund = await lodge.refund_of(stay)
    assert refund["status"] == "successful"
    assert lodge.bank.returned == {lodge.reference(refund): 1}


async def test_money_that_came_home_again_is_the_guests(lodge: GivingLodge) -> None:
    """The provider gave it back and then could not: the wallet and the stay have it again."""
    stay = await lodge.deposited()
    balance, _ = await lodge.wallet()
    await lodge.give_back(stay, 60, "cloove_pay")
    await lodge.work()
    refund = await lodge.refund_of(stay)
    lodge.bank.refunds[lodge.reference(refund)] = "failed"
    await lodge.hear(refund)
    await lodge.work()
    await lodge.work()
    folio = await lodge.folio(stay)
    assert folio["refunds"][0]["status"] == "reversed"
    assert (folio["unspentAmount"], folio["paymentsTotal"]) == (60, 60)
    assert await lodge.wallet() == (balance, 0)
    assert [one["refundStatus"] for one in await lodge.outcomes()] == ["successful", "reversed"]
    await lodge.give_back(stay, 60, "cloove_pay")
    await lodge.work()
    assert (await lodge.refund_of(stay))["status"] == "successful"


async def test_a_refund_that_succeeds_after_all_is_booked(lodge: GivingLodge) -> None:
    """It had failed, and the guest has spent the money since: the part that lacks is a claim."""
    stay = await lodge.deposited(check_in=True)
    lodge.bank.manners.append("failed")
    await lodge.give_back(stay, 60, "cloove_pay")
    await lodge.work()
    refund = await lodge.refund_of(stay)
    assert refund["status"] == "failed"
    await lodge.charge(stay, 45)
    await lodge.pay(stay, 1)
    lodge.bank.refunds[lodge.reference(refund)] = "successful"
    await lodge.hear(refund)
    await lodge.work()
    await lodge.work()
    folio = await lodge.folio(stay)
    assert folio["refunds"][0]["status"] == "successful"
    assert (folio["payments"][-1]["amount"], folio["unspentAmount"]) == (16, 0)


async def test_a_failed_refund_that_the_provider_took_back_itself(lodge: GivingLodge) -> None:
    """It took the payment back, and then calls the refund successful: it went back once."""
    stay = await lodge.deposited()
    link = await lodge.link(await lodge.book(deposit_amount=1))
    balance, _ = await lodge.wallet()
    lodge.bank.manners.append("failed")
    await lodge.give_back(stay, 60, "cloove_pay")
    await lodge.work()
    refund = await lodge.refund_of(stay)
    query = "SELECT reference FROM payment_links WHERE book_id = $1 AND target_id = $2"
    reference = await lodge.sql.fetchval(query, lodge.book_id, UUID(stay["id"]))
    await lodge.pay_link({**link, "reference": reference}, "reversed")
    after, _ = await lodge.wallet()
    assert after < balance
    lodge.bank.refunds[lodge.reference(refund)] = "successful"
    await lodge.hear(refund)
    await lodge.work()
    await lodge.work()
    folio = await lodge.folio(stay)
    assert folio["refunds"][0]["status"] == "successful"
    assert (folio["paymentsTotal"], folio["unspentAmount"]) == (0, 0)
    assert await lodge.wallet() == (after, 0)


async def test_a_failed_refund_that_went_back_while_another_has_its_money(
    lodge: GivingLodge,
) -> None:
    """It waits until the other, of the whole, has come home: then it is booked, once."""
    stay = await lodge.deposited()
    balance, _ = await lodge.wallet()
    lodge.bank.manners.append("failed")
    for amount in (40, 60):
        await lodge.give_back(stay, amount, "cloove_pay")
        await lodge.work()
    late, other = (await lodge.folio(stay))["refunds"]
    assert (late["status"], other["status"]) == ("failed", "successful")
    lodge.bank.refunds[lodge.reference(late)] = "successful"
    await lodge.hear(late)
    await lodge.work()
    assert (await lodge.folio(stay))["refunds"][0]["status"] == "failed"
    lodge.bank.refunds[lodge.reference(other)] = "failed"
    await lodge.hear(late)
    for _ in range(3):
        await lodge.work()
    folio = await lodge.folio(stay)
    assert [one["status"] for one in folio["refunds"]] == ["successful", "reversed"]
    assert (folio["paymentsTotal"], folio["unspentAmount"]) == (20, 20)
    assert await lodge.wallet() == (balance - 40, 0)


async def test_of_many_at_once_no_more_goes_back_than_came(lodge: GivingLodge) -> None:
    """Refunds, by both ways, and a cancellation that gives back."""
    stay = await lodge.deposited()
    path = f"/v1/hotel/reservations/{stay['id']}"
    sends = [
        *(lodge.api.post(f"{path}/refunds", {"amount": 25, "method": "cloove_pay"})
          for _ in range(4)),
        *(lodge.api.post(f"{path}/refunds", {"amount": 25, "method": "cash"}) for _ in range(4)),
        lodge.api.post(f"{path}/cancel", {"refund_deposit": True}),
    ]  # fmt: skip
    answers = await asyncio.gather(*sends)
    assert {one.status for one in answers} <= {200, 201, 400}
    await lodge.work()
    folio = await lodge.folio(stay)
    assert (folio["status"], folio["paymentsTotal"], folio["unspentAmount"]) == ("cancelled", 0, 0)
    given = sum(one["amount"] for one in folio["refunds"])
    cash = sum(one["amount"] for one in folio["payments"] if one["method"] == "cash")
    assert given + cash == 60
    assert len(lodge.bank.returned) == len(folio["refunds"])


async def test_a_bill_tells_of_it(lodge: GivingLodge) -> None:
    """On its way, and then as a refund, without the provider's name of it."""
    stay = await lodge.deposited()
    await lodge.give_back(stay, 60, "cloove_pay")
    path = f"/v1/hotel/reservations/{stay['id']}/bill"
    url = (await lodge.api.post(path, {}, status=200)).data["url"]
    page = (await lodge.business.anybody.get(url[url.index("/bills") :])).body.decode()
    assert "Refund on its way, Online" in page
    await lodge.work()
    url = (await lodge.api.post(path, {}, status=200)).data["url"]
    page = (await lodge.business.anybody.get(url[url.index("/bills") :])).body.decode()
    assert "Refund, Online" in page
    assert "bank-" not in page


@at_points
async def test_a_refund_that_is_cut(server_url: str, is_after: bool, points: Sequence[int]) -> None:
    """The connection ends at each statement of the job: it goes back once, and is booked once."""
    async with standing_idle(server_url) as world:
        make = Make(world.app, world.app.services)
        lodge = await GivingLodge.giving(await make.business(time_zone="UTC"), world.sql)
        refunds, hits = await _cut(world, lodge, points, is_after=is_after)
        query = "SELECT count(*), sum(amount) FROM sandbox_refunds WHERE book_id = $1"
        row = await lodge.sql.fetchrow(query, lodge.book_id)
        assert row is not None
        assert tuple(row) == (refunds, Decimal(refunds))
        assert await lodge.faults() == []
        assert_cut(points, hits)


async def _cut(
    world: World, lodge: GivingLodge, points: Sequence[int], *, is_after: bool
) -> tuple[int, int]:
    """How many refunds were given, and how many of them were cut."""
    services = world.app.services
    stay = await lodge.deposited(500)
    hits = 0
    for number in points:
        await lodge.give_back(stay, 1, "cloove_pay")
        async with world.proxy.dying(Crash(number, is_after)) as death:
            runner = JobRunner(services.pool, kinds(services), services.job_results)
            with contextlib.suppress(*DEAD):
                await runner.run_due(now() + timedelta(seconds=2))
        assert death is not None
        for after in (MINUTES_5, MINUTES_5, HOUR):
            await lodge.age(HOUR)
            await lodge.work(after, by_sandbox=True)
        assert (await lodge.refund_of(stay))["status"] == "successful", number
        if not death.is_dead:
            return hits + 1, hits
        hits += 1
    return hits, hits


async def test_a_refund_of_a_payment_in_parts_is_found_by_the_providers_name(
    lodge: GivingLodge,
) -> None:
    """The deposit is a part of a transaction there, whose name is all that the hook says."""
    stay = await lodge.deposited()
    await lodge.sql.execute(
        """
        UPDATE payins SET provider_transaction_id = 'T-1#60' WHERE book_id = $1 AND amount = 60
        """,
        lodge.book_id,
    )
    lodge.bank.manners.append("slow")
    await lodge.give_back(stay, 60, "cloove_pay")
    await lodge.work()
    refund = await lodge.refund_of(stay)
    lodge.bank.refunds[lodge.reference(refund)] = "successful"
    await lodge.hear(refund, HeardReturn("sandbox", transaction_id="T-1"))
    await lodge.work()
    assert (await lodge.refund_of(stay))["status"] == "successful"


async def test_a_disputed_deposit_names_the_dispute(lodge: GivingLodge) -> None:
    """Money that a dispute holds goes back by no refund: the refusal says so, and what to do."""
    stay = await lodge.book(deposit_amount=100)
    link = await lodge.link(stay)
    await lodge.pay_link(link)
    await lodge.pay_link(link, "disputed")
    refused = await lodge.give_back(stay, 60, "cloove_pay", status=400)
    message = refused.json["message"]
    assert "100 are disputed (GET /v1/disputes)" in message
    assert "Wait for that" in message
    path = f"/v1/hotel/reservations/{stay['id']}/cancel"
    answer = await lodge.api.post(path, {"refund_deposit": True}, status=200)
    assert answer.json["meta"] == {"returningAmount": 0, "unspentAmount": 0}
