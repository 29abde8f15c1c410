"""Changes while an attempt is under way: resends, secrets, addresses."""

import asyncio

import pytest
import stripe

from tests.webhooks.holding_receiver import Holding
from tests.webhooks.receiver import Received, Receiver
from tests.webhooks.shop import ENDPOINTS, Json, Shop, until


async def _logged(shop: Shop, event_id: str, count: int) -> Json:
    """The delivery of an event, once so many of its attempts are logged."""

    async def look() -> Json | None:
        found = await shop.delivery_of(event_id)
        return found if len(found["attemptsLog"]) >= count else None

    return await until(look)


@pytest.mark.parametrize("stale", [200, 500])
async def test_a_resend_outdates_the_attempt_under_way(
    sender: Shop, receiver: Receiver, stale: int
) -> None:
    """Its late result is noted in the log and changes nothing else."""
    await sender.endpoint(receiver.url)
    held = Holding(receiver, 1)
    event_id = await sender.emit()
    await held.until(1)
    delivery_id = (await sender.delivery_of(event_id))["id"]
    await sender.resend(delivery_id)
    delivered = await sender.settled(event_id)
    assert (delivered["status"], delivered["attempts"]) == ("delivered", 1)
    held.answer(0, stale)
    late = await _logged(sender, event_id, 2)
    assert [entry["responseStatus"] for entry in late["attemptsLog"]] == [200, stale]
    assert late == {**delivered, "attemptsLog": late["attemptsLog"]}
    assert len(receiver.received) == 2


async def test_a_late_success_does_not_end_the_resend(sender: Shop, receiver: Receiver) -> None:
    """The resend is an attempt of its own, which fails here and is tried again."""
    await sender.endpoint(receiver.url)
    held = Holding(receiver, 2)
    event_id = await sender.emit()
    await held.until(1)
    await sender.resend((await sender.delivery_of(event_id))["id"])
    await held.until(2)
    held.answer(0, 200)
    late = await _logged(sender, event_id, 1)
    assert (late["status"], late["attempts"]) == ("pending", 0)
    held.answer(1, 500)
    over = await sender.settled(event_id)
    assert (over["status"], over["attempts"]) == ("delivered", 2)
    assert [entry["responseStatus"] for entry in over["attemptsLog"]] == [200, 500, 200]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_results_that_come_together_are_told_apart(
    sender: Shop, receiver: Receiver, order: tuple[int, int]
) -> None:
    """The stale attempt and the resend end within the same batch; the resend's result holds."""
    await sender.endpoint(receiver.url)
    held = Holding(receiver, 2)
    event_id = await sender.emit()
    await held.until(1)
    await sender.resend((await sender.delivery_of(event_id))["id"])
    await held.until(2)
    for number in order:
        held.answer(number, (500, 200)[number])
    over = await _logged(sender, event_id, 2)
    assert (over["status"], over["attempts"], over["errorMessage"]) == ("delivered", 1, None)
    assert sorted(entry["responseStatus"] for entry in over["attemptsLog"]) == [200, 500]
    await sender.settled(await sender.emit())
    assert len(receiver.received) == 3


def _is_signed_with(got: Received, secret: str) -> bool:
    header = got.headers["Service-Signature"]
    try:
        stripe.WebhookSignature.verify_header(got.body.decode(), header, secret, 300)
    except stripe.SignatureVerificationError:
        return False
    return True


async def test_a_retry_is_signed_with_the_newest_secret(sender: Shop, receiver: Receiver) -> None:
    """After a rotation the old one verifies no retry and no resend."""
    await sender.endpoint(receiver.url)
    old = await sender.secret()
    held = Holding(receiver, 1)
    event_id = await sender.emit()
    await held.until(1)
    new = await sender.rotate()
    held.answer(0, 500)
    over = await sender.settled(event_id)
    await sender.resend(over["id"])
    first, *later = await receiver.until(3)
    assert (_is_signed_with(first, old), _is_signed_with(first, new)) == (True, False)
    for got in later:
        assert (_is_signed_with(got, old), _is_signed_with(got, new)) == (False, True)
        assert got.body == first.body


async def test_a_retry_goes_to_the_newest_address(sender: Shop, receiver: Receiver) -> None:
    """The record tells where it went in the end, the log where each attempt went."""
    made = await sender.endpoint(receiver.url)
    held = Holding(receiver, 1)
    event_id = await sender.emit()
    await held.until(1)
    url = receiver.url + "/moved"
    await sender.owner.patch(f"{ENDPOINTS}/{made['id']}", {"url": url}, status=200)
    held.answer(0, 500)
    over = await sender.settled(event_id)
    assert (over["status"], over["url"]) == ("delivered", url)
    assert [entry["url"] for entry in over["attemptsLog"]] == [receiver.url, url]
    assert [got.path for got in receiver.received] == ["/hook", "/hook/moved"]


async def test_resends_and_events_at_once_lose_nothing(sender: Shop, receiver: Receiver) -> None:
    """Ten resends of one delivery, at the same moment as its attempts: delivered in the end."""
    await sender.endpoint(receiver.url)
    event_id = await sender.emit()
    delivery_id = (await sender.delivery_of(event_id))["id"]
    await asyncio.gather(*(sender.resend(delivery_id) for _ in range(10)))
    over = await sender.settled(event_id)
    assert (over["status"], over["attempts"]) == ("delivered", 1)
    assert {got.event_id for got in receiver.received} == {event_id}
