"""An endpoint that fails: probed one at a time, disabled after fifteen, started afresh."""

import pytest

from tests.webhooks.holding_receiver import Holding
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Json, Shop, until
from tests.webhooks.tls import Authority

pytestmark = pytest.mark.proof


async def _disabled(shop: Shop, endpoint_id: str) -> Json:
    async def look() -> Json | None:
        endpoint = await shop.read(endpoint_id)
        return endpoint if endpoint["status"] == "disabled" else None

    return await until(look)


async def _all_over(shop: Shop, endpoint_id: str) -> list[Json]:
    async def look() -> list[Json] | None:
        found = await shop.deliveries(f"endpoint_id={endpoint_id}")
        is_over = all(d["status"] != "pending" and d["nextAttemptAt"] is None for d in found)
        return found if is_over else None

    return await until(look)


async def test_after_three_failures_one_probe_at_a_time(
    sender: Shop, receiver: Receiver, authority: Authority
) -> None:
    """However much is due; another endpoint is not held up by it."""
    healthy = await Receiver().start(authority.server())
    await sender.endpoint(healthy.url, events=["order.updated"])
    endpoint_id = (await sender.endpoint(receiver.url))["id"]
    held = Holding(receiver)
    await sender.emit()
    for failures in range(3):
        await held.until(failures + 1)
        held.answer(failures, 500)

    async def has_failed() -> bool:
        return (await sender.read(endpoint_id))["failureCount"] == 3

    await until(has_failed)
    book = await sender.book()
    async with sender.services.pool.transaction() as db:
        for _ in range(20):
            await sender.emit_in(db, book)
    for probe in range(3, 8):
        await held.until(probe + 1)
        # Claims go on meanwhile, and none is for the endpoint that is being probed.
        for _ in range(2):
            await sender.settled(await sender.emit("order.updated"))
        assert receiver.under_way == 1
        held.answer(probe, 500)
    assert receiver.most_under_way == 1
    await held.until(9)
    # One success opens the endpoint again.
    held.answer(8, 200)
    await held.until(11)
    assert receiver.most_under_way > 1
    held.answer_rest(200)
    assert all(each["status"] != "pending" for each in await _all_over(sender, endpoint_id))
    await healthy.stop()


async def test_the_first_probe_waits_for_what_is_under_way(
    sender: Shop, receiver: Receiver, authority: Authority
) -> None:
    """Of a burst whose first three fail, the rest is part of what is known before a probe."""
    healthy = await Receiver().start(authority.server())
    await sender.endpoint(healthy.url, events=["order.updated"])
    endpoint_id = (await sender.endpoint(receiver.url))["id"]
    for _ in range(4):
        await sender.settled(await sender.emit())
    held = Holding(receiver)
    for _ in range(4):
        await sender.emit()
    await held.until(4)
    for number in range(3):
        held.answer(number, 500)

    async def has_failed() -> bool:
        return (await sender.read(endpoint_id))["failureCount"] == 3

    await until(has_failed)
    await sender.emit()
    for _ in range(3):
        await sender.settled(await sender.emit("order.updated"))
    assert receiver.under_way == 1
    held.answer(3, 500)
    await held.until(5)
    assert receiver.under_way == 1
    held.answer_rest(200)
    assert all(each["status"] == "delivered" for each in await _all_over(sender, endpoint_id))
    await healthy.stop()


async def test_a_failure_halves_what_may_be_under_way(
    sender: Shop, receiver: Receiver, authority: Authority
) -> None:
    """Of ten at once, one fails: nothing more begins until fewer than half of them are left."""
    healthy = await Receiver().start(authority.server())
    await sender.endpoint(healthy.url, events=["order.updated"])
    endpoint_id = (await sender.endpoint(receiver.url))["id"]
    # The first two may go at once, and each success allows one more.
    for _ in range(8):
        await sender.settled(await sender.emit())
    held = Holding(receiver)
    for _ in range(20):
        await sender.emit()
    await held.until(10)
    assert await _under_way(sender, receiver) == 10
    held.answer(0, 500)

    async def has_failed() -> bool:
        return (await sender.read(endpoint_id))["failureCount"] == 1

    await until(has_failed)
    # Five may be under way now, and one more with each success.
    for number in (1, 2, 3):
        assert await _under_way(sender, receiver) == 10 - number
        held.answer(number, 200)
        await sender.settled(receiver.received[8 + number].event_id)
    await held.until(12)
    assert await _under_way(sender, receiver) == 8
    held.answer_rest(200)
    assert all(each["status"] == "delivered" for each in await _all_over(sender, endpoint_id))
    await healthy.stop()


async def _under_way(shop: Shop, receiver: Receiver) -> int:
    """How many attempts are held, after two more claims of what is due."""
    for _ in range(2):
        await shop.settled(await shop.emit("order.updated"))
    return receiver.under_way


async def test_fifteen_failures_in_a_row_disable_the_endpoint(
    sender: Shop, receiver: Receiver
) -> None:
    """Queued deliveries end as endpoint_disabled, the audit log says why, and no more is sent."""
    receiver.status = 500
    endpoint_id = (await sender.endpoint(receiver.url))["id"]
    book = await sender.book()
    async with sender.services.pool.transaction() as db:
        for _ in range(20):
            await sender.emit_in(db, book)
    endpoint = await _disabled(sender, endpoint_id)
    assert endpoint["failureCount"] == 15
    assert endpoint["disabledAt"] is not None
    assert len(receiver.received) == 15
    over = await _all_over(sender, endpoint_id)
    assert len(over) == 20
    assert {each["errorMessage"] for each in over} <= {"endpoint_disabled", "http_500"}
    assert [each["errorMessage"] for each in over].count("endpoint_disabled") >= 17
    [noted] = await sender.audit("webhook_endpoint.disabled")
    assert noted["metadata"]["webhookEndpointId"] == endpoint_id
    assert noted["metadata"]["consecutiveFailures"] == 15
    assert endpoint["failuresToDisable"] is None
    assert endpoint["failingSince"] == noted["metadata"]["failingSince"]
    assert (noted["actorName"], noted["actorUserId"]) == ("webhook sender", None)
    assert await sender.emit() not in {each["eventId"] for each in await sender.deliveries()}
    await _starts_afresh(sender, receiver, endpoint_id, over[0])


async def test_an_endpoint_tells_that_it_fails_before_it_is_disabled(
    sender: Shop, receiver: Receiver
) -> None:
    """The fifth failure in a row is audited, once; a success takes the mark away."""
    receiver.status = 500
    endpoint_id = (await sender.endpoint(receiver.url))["id"]
    for failed in (5, 10):
        await sender.settled(await sender.emit())
        endpoint = await sender.read(endpoint_id)
        assert (endpoint["failureCount"], endpoint["failuresToDisable"]) == (failed, 15 - failed)
        [noted] = await sender.audit("webhook_endpoint.failing")
        metadata = noted["metadata"]
        assert (metadata["consecutiveFailures"], metadata["disabledAfter"]) == (5, 15)
        assert metadata["webhookEndpointId"] == endpoint_id
        assert endpoint["createdAt"] <= metadata["failingSince"] == endpoint["failingSince"]
    receiver.status = 200
    await sender.settled(await sender.emit())
    endpoint = await sender.read(endpoint_id)
    assert (endpoint["failingSince"], endpoint["failuresToDisable"]) == (None, None)
    receiver.status = 500
    await sender.settled(await sender.emit())
    assert len(await sender.audit("webhook_endpoint.failing")) == 2


async def _starts_afresh(shop: Shop, receiver: Receiver, endpoint_id: str, failed: Json) -> None:
    """Enabled, it has a clean record, and nothing is sent again but what is resent."""
    receiver.status = 200
    receiver.received.clear()
    enabled = await shop.act(endpoint_id, "enable")
    assert (enabled["status"], enabled["failureCount"]) == ("active", 0)
    assert (enabled["failingSince"], enabled["failuresToDisable"]) == (None, None)
    await shop.settled(await shop.emit())
    assert len(receiver.received) == 1
    assert (await shop.resend(failed["id"]))["status"] == "pending"
    again = await shop.settled(failed["eventId"])
    assert (again["status"], again["attempts"]) == ("delivered", 1)
    assert receiver.received[1].event_id == failed["eventId"]
    assert len(receiver.received) == 2


async def test_disabling_during_an_attempt(sender: Shop, receiver: Receiver) -> None:
    """A delivery under way may still arrive; one that is queued, or fails now, ends."""
    endpoint_id = (await sender.endpoint(receiver.url))["id"]
    held = Holding(receiver)
    first = await sender.emit()
    await held.until(1)
    second = await sender.emit()
    await held.until(2)
    queued = [await sender.emit() for _ in range(3)]
    await sender.act(endpoint_id, "disable")
    for event_id in queued:
        over = await sender.settled(event_id)
        assert (over["status"], over["errorMessage"]) == ("failed", "endpoint_disabled")
        assert over["attempts"] == 0
    assert (await sender.delivery_of(first))["status"] == "pending"
    held.answer(0, 200)
    held.answer(1, 500)
    assert (await sender.settled(first))["status"] == "delivered"
    over = await sender.settled(second)
    assert (over["status"], over["errorMessage"]) == ("failed", "endpoint_disabled")
    assert (over["attempts"], len(over["attemptsLog"])) == (1, 1)
    assert len(receiver.received) == 2


async def test_deleting_ends_what_is_queued(sender: Shop, receiver: Receiver) -> None:
    """The log keeps what became of it."""
    endpoint_id = (await sender.endpoint(receiver.url))["id"]
    held = Holding(receiver)
    first = await sender.emit()
    await held.until(1)
    await sender.owner.delete(f"/api/developer/webhook-endpoints/{endpoint_id}", status=200)
    held.answer(0, 500)
    over = await sender.settled(first)
    assert (over["status"], over["errorMessage"]) == ("failed", "endpoint_disabled")
