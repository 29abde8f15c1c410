"""From a committed change to a delivery that anyone's library verifies."""

import json

import pytest
import standardwebhooks
import stripe
import svix

from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop


async def test_one_delivery_is_verified_by_three_libraries(
    sender: Shop, receiver: Receiver
) -> None:
    """stripe, standardwebhooks and svix accept it, and refuse what was tampered with."""
    made = await sender.endpoint(receiver.url)
    queued = await sender.act(made["id"], "test")
    assert queued["status"] == "pending"
    (got, *_) = await receiver.until(1)
    secret = await sender.secret()
    body = got.body.decode()
    headers = {name.lower(): value for name, value in got.headers.items()}
    assert headers["service-webhook-event"] == "webhook.test"
    assert headers["service-webhook-id"] == queued["eventId"] == json.loads(body)["id"]
    stripe.WebhookSignature.verify_header(body, headers["service-signature"], secret, 300)
    standardwebhooks.Webhook(secret).verify(got.body, headers)
    svix.Webhook(secret).verify(got.body, headers)
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.WebhookSignature.verify_header(body + " ", headers["service-signature"], secret, 300)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(secret).verify(got.body + b" ", headers)
    with pytest.raises(svix.webhooks.WebhookVerificationError):
        svix.Webhook(secret).verify(got.body + b" ", headers)


async def test_a_delivery_is_the_envelope_and_the_headers_of_the_contract(
    sender: Shop, receiver: Receiver
) -> None:
    """A POST of JSON with the event's id in header and body, and nothing compressed asked for."""
    await sender.endpoint(receiver.url)
    event_id = await sender.emit()
    [got] = await receiver.until(1)
    assert got.event_id == event_id
    assert got.headers["Service-Webhook-Event"] == "order.created"
    assert got.headers["Content-Type"] == "application/json"
    assert got.headers["Accept-Encoding"] == "identity"
    envelope = json.loads(got.body)
    assert list(envelope) == [
        "id", "type", "apiVersion", "businessId", "created", "environment", "data",
    ]  # fmt: skip
    assert envelope["id"] == event_id
    assert envelope["apiVersion"] == "v1"
    assert envelope["data"]["eventType"] == "ORDER_CREATED"


async def test_a_test_event_says_which_endpoint_it_is_for(sender: Shop, receiver: Receiver) -> None:
    """webhook.test carries endpointId and message, to an endpoint that does not subscribe to it."""
    made = await sender.endpoint(receiver.url)
    queued = await sender.act(made["id"], "test")
    [got] = await receiver.until(1)
    envelope = json.loads(got.body)
    assert (envelope["type"], envelope["environment"]) == ("webhook.test", "test")
    assert envelope["data"]["endpointId"] == made["id"]
    assert set(envelope["data"]) == {"endpointId", "message"}
    over = await sender.settled(queued["eventId"])
    assert (over["status"], over["attempts"]) == ("delivered", 1)
