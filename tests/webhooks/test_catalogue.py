"""The catalogue: every event of the contract, with a schema that its payload fits."""

import json
from typing import Any
from uuid import UUID

import asyncpg
import jsonschema_rs
import msgspec
import pytest

from tests.webhooks.forbidden_hosts import words
from tests.webhooks.shop import PORTAL, Shop
from tillhouse.app import PRODUCT
from tillhouse.kit.events import EventType
from tillhouse.webhooks.events import TEST

# As the contract's table has them, in its order.
NAMES = words(
    """
    voice.call.started voice.call.completed voice.call.failed voice.recording.ready
    voice.agent.created voice.agent.updated voice.agent.deleted
    messaging.message.received messaging.message.sent messaging.message.delivery_updated
    messaging.conversation.assigned order.created order.updated order.cancelled payment.received
    contact.created contact.updated inventory.low_stock inventory.out_of_stock
    wallet.withdrawal.requested wallet.withdrawal.completed wallet.withdrawal.failed
    wallet.deposit kitchen_ticket.created kitchen_ticket.status_updated
    product.created product.updated product.deleted
    hotel.reservation.created hotel.reservation.checked_in hotel.reservation.checked_out
    hotel.reservation.cancelled hotel.service_request.created
    """
)
DECLARED = [event.name for event in PRODUCT.declared.events]


async def _shown(shop: Shop) -> dict[str, Any]:
    answer = await shop.owner.get(f"{PORTAL}/webhook-events", status=200)
    return {each["type"]: each for each in answer.data}


async def test_the_catalogue_is_that_of_the_contract(quiet: Shop) -> None:
    """Every event, each with a label and a group; webhook.test is none to subscribe to.

    A room may announce more than the contract names.
    """
    shown = await _shown(quiet)
    assert list(shown) == DECLARED
    assert [name for name in shown if name in NAMES] == NAMES
    assert TEST not in shown
    assert all(each["label"] and each["group"] for each in shown.values())
    assert all(
        set(each) == {"type", "label", "group", "schema", "sample"} for each in shown.values()
    )


async def test_an_endpoint_can_subscribe_to_all_of_it(quiet: Shop) -> None:
    """At once."""
    assert (await quiet.endpoint(events=DECLARED))["events"] == DECLARED


@pytest.mark.parametrize("event", PRODUCT.declared.events, ids=lambda event: event.name)
async def test_what_is_sent_fits_the_schema_that_is_shown(
    quiet_app: Any, sql: asyncpg.Connection, catalogue_shop: Shop, event: EventType
) -> None:
    """The sample makes an event, and the event's data is the sample again."""
    shown = (await _shown(catalogue_shop))[event.name]
    data = msgspec.convert(shown["sample"], event.data)
    event_id = await catalogue_shop.emit(event.name, data=data)
    payload = await sql.fetchval("SELECT payload FROM webhook_events WHERE id = $1", UUID(event_id))
    sent = json.loads(payload or "")["data"]
    assert sent == shown["sample"]
    jsonschema_rs.Draft202012Validator(shown["schema"], validate_formats=True).validate(sent)
    await catalogue_shop.delivery_of(event_id)


@pytest.fixture(scope="module")
async def catalogue_shop(quiet_app: Any) -> Shop:
    """A business with an endpoint for everything."""
    shop = await Shop.open(quiet_app)
    await shop.endpoint(events=DECLARED)
    return shop
