"""The life of an endpoint in the portal: made, read, changed, disabled, enabled, deleted."""

import re
from uuid import uuid4

import pytest

from tests.webhooks.shop import ENDPOINTS, PORTAL, URL, Shop
from tillhouse.app import App

BODY = {"name": "Shop hook", "url": URL, "environment": "test", "events": ["order.created"]}
INSTANT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


async def test_a_new_endpoint_has_the_whole_record(quiet: Shop) -> None:
    """Every field of the contract, and since when and how far it fails."""
    made = await quiet.endpoint(name="  Shop hook ")
    apps = (await quiet.owner.get(f"{PORTAL}/apps", status=200)).data
    [default] = [app["id"] for app in apps if app["environment"] == "test"]
    assert made == {
        "id": made["id"], "businessId": quiet.business.id, "developerAppId": default,
        "name": "Shop hook", "url": URL, "environment": "test", "events": ["order.created"],
        "status": "active", "lastDeliveryStatus": None, "failureCount": 0,
        "lastDeliveredAt": None, "disabledAt": None, "failingSince": None,
        "failuresToDisable": None, "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
    }  # fmt: skip
    assert INSTANT.fullmatch(made["createdAt"])
    assert await quiet.read(made["id"]) == made


async def test_everything_that_is_wrong_is_named_at_once(quiet: Shop) -> None:
    """The form's errors don't hide those of the address, of the app, of the time window."""
    inward = {"name": 5, "url": "https://10.0.0.1/hook", "developer_app_id": str(uuid4())}
    refused = await quiet.owner.post(ENDPOINTS, {**BODY, **inward}, status=422)
    assert refused.wrong_fields == {"name", "url", "developer_app_id"}
    path = f"{ENDPOINTS}/{(await quiet.endpoint())['id']}"
    refused = await quiet.owner.patch(path, {"name": 5, "url": inward["url"]}, status=422)
    assert refused.wrong_fields == {"name", "url"}
    window = {"since": "2026-02-01", "until": "2026-01-01", "status": "all"}
    refused = await quiet.owner.post(f"{path}/recover", window, status=422)
    assert refused.wrong_fields == {"status", "until"}


async def test_an_endpoint_belongs_to_the_app_that_is_named(quiet: Shop) -> None:
    """Of this business and environment; any other app is refused by name."""
    app_id = await quiet.app_of("test")
    assert (await quiet.endpoint(developer_app_id=app_id))["developerAppId"] == app_id
    for wrong in (await quiet.app_of("live"), await (await Shop.open(quiet.app)).app_of()):
        refused = await quiet.endpoint(developer_app_id=wrong, status=422)
        assert [detail["field"] for detail in refused["details"]] == ["developer_app_id"]
    await quiet.endpoint(developer_app_id=str(uuid4()), status=422)
    await quiet.endpoint(developer_app_id="none", status=422)


@pytest.mark.parametrize(
    "events",
    [["order.refunded"], ["webhook.test"], ["order.created", "*"], [], ["ORDER.CREATED"],
     ["order.created "], "order.created", None, [1], ["order.created"] * 101],
)  # fmt: skip
async def test_events_are_those_of_the_catalogue(quiet: Shop, events: object) -> None:
    """Nothing else, and at least one, when an endpoint is made and when it is changed."""
    made = await quiet.owner.post(ENDPOINTS, {**BODY, "events": events}, status=422)
    assert {field.partition("[")[0].partition(".")[0] for field in made.wrong_fields} == {"events"}
    endpoint_id = (await quiet.endpoint())["id"]
    await quiet.owner.patch(f"{ENDPOINTS}/{endpoint_id}", {"events": events}, status=422)
    assert (await quiet.read(endpoint_id))["events"] == ["order.created"]


async def test_a_star_stands_for_every_event(quiet: Shop) -> None:
    """Also for those that no list could name yet; beside others it is refused."""
    made = await quiet.endpoint(events=["*"])
    assert made["events"] == ["*"]
    change = f"{ENDPOINTS}/{made['id']}"
    named = await quiet.owner.patch(change, {"events": ["order.created"]}, status=200)
    assert named.data["events"] == ["order.created"]
    assert (await quiet.owner.patch(change, {"events": ["*"]}, status=200)).data["events"] == ["*"]
    both = await quiet.owner.patch(change, {"events": ["*", "order.created"]}, status=422)
    assert both.wrong_fields == {"events"}


async def test_an_event_named_twice_is_subscribed_once(quiet: Shop) -> None:
    """In the order in which they were named."""
    made = await quiet.endpoint(events=["payment.received", "order.created", "payment.received"])
    assert made["events"] == ["payment.received", "order.created"]


@pytest.mark.parametrize("missing", ["name", "url", "environment", "events"])
async def test_every_required_field_is_asked_for(quiet: Shop, missing: str) -> None:
    """And named when it is not there."""
    body = {name: value for name, value in BODY.items() if name != missing}
    answer = await quiet.owner.post(ENDPOINTS, body, status=422)
    assert answer.wrong_fields == {missing}


async def test_all_that_is_wrong_is_named_at_once(quiet: Shop) -> None:
    """Not just the first field; an unknown one is wrong, too."""
    body = {"name": "x", "url": "http://a.example", "environment": "prod", "events": [], "evnts": 1}
    answer = await quiet.owner.post(ENDPOINTS, body, status=422)
    assert answer.wrong_fields >= {"name", "url", "environment", "events", "evnts"}


async def test_lists_cover_all_apps_or_the_one_asked_for(quiet: Shop) -> None:
    """The newest first, both environments, no other business's."""
    app_id = await quiet.app_of("live")
    first = await quiet.endpoint()
    second = await quiet.endpoint(environment="live", developer_app_id=app_id)
    await (await Shop.open(quiet.app)).endpoint()
    listed = await quiet.owner.get(ENDPOINTS, status=200)
    assert listed.data == [second, first]
    assert listed.json["message"]
    of_one = await quiet.owner.get(f"{ENDPOINTS}?developer_app_id={app_id}", status=200)
    assert of_one.data == [second]
    of_none = await quiet.owner.get(f"{ENDPOINTS}?developer_app_id={uuid4()}", status=200)
    assert of_none.data == []
    await quiet.owner.get(f"{ENDPOINTS}?developer_app_id=1", status=422)
    await quiet.owner.get(f"{ENDPOINTS}?app={app_id}", status=422)


async def test_what_is_absent_from_a_change_stays(quiet: Shop) -> None:
    """Name, address and subscriptions, each on its own."""
    made = await quiet.endpoint()
    path = f"{ENDPOINTS}/{made['id']}"
    named = (await quiet.owner.patch(path, {"name": "Other"}, status=200)).data
    assert named == {**made, "name": "Other", "updatedAt": named["updatedAt"]}
    moved = (await quiet.owner.patch(path, {"url": URL + "/2#there"}, status=200)).data
    assert moved == {**named, "url": URL + "/2", "updatedAt": moved["updatedAt"]}
    events = ["contact.created", "contact.updated"]
    changed = (await quiet.owner.patch(path, {"events": events}, status=200)).data
    assert changed == {**moved, "events": events, "updatedAt": changed["updatedAt"]}
    assert await quiet.read(made["id"]) == changed


@pytest.mark.parametrize("field", ["environment", "developer_app_id", "status", "id"])
async def test_app_and_environment_never_change(quiet: Shop, field: str) -> None:
    """They are no fields of a change."""
    made = await quiet.endpoint()
    body = {"name": "Other", field: made.get(field, made["developerAppId"])}
    answer = await quiet.owner.patch(f"{ENDPOINTS}/{made['id']}", body, status=422)
    assert answer.wrong_fields == {field}
    assert await quiet.read(made["id"]) == made


async def test_disabling_and_enabling(quiet: Shop) -> None:
    """Each holds, says when, and does no harm twice."""
    made = await quiet.endpoint()
    disabled = await quiet.act(made["id"], "disable")
    assert disabled["status"] == "disabled"
    assert INSTANT.fullmatch(disabled["disabledAt"])
    assert await quiet.act(made["id"], "disable") == disabled
    enabled = await quiet.act(made["id"], "enable")
    assert (enabled["status"], enabled["disabledAt"], enabled["failureCount"]) == (
        "active",
        None,
        0,
    )
    assert (await quiet.act(made["id"], "enable"))["status"] == "active"


async def test_a_test_is_queued_for_an_active_endpoint_alone(quiet: Shop) -> None:
    """202 with the new delivery; 409 when the endpoint is disabled."""
    made = await quiet.endpoint()
    path = f"{ENDPOINTS}/{made['id']}/test"
    queued = (await quiet.owner.post(path, status=202)).data
    assert (queued["eventType"], queued["status"]) == ("webhook.test", "pending")
    assert queued["webhookEndpointId"] == made["id"]
    assert [entry["id"] for entry in await quiet.deliveries()] == [queued["id"]]
    await quiet.act(made["id"], "disable")
    assert (await quiet.owner.post(path, status=409)).error == "request_failed"


async def test_deliveries_outlive_their_endpoint(quiet: Shop) -> None:
    """A deleted endpoint is gone, its log is not; nothing can be sent to it again."""
    made = await quiet.endpoint()
    event_id = await quiet.emit()
    gone = (await quiet.owner.delete(f"{ENDPOINTS}/{made['id']}", status=200)).data
    assert gone["id"] == made["id"]
    await quiet.owner.get(f"{ENDPOINTS}/{made['id']}", status=404)
    await quiet.owner.delete(f"{ENDPOINTS}/{made['id']}", status=404)
    kept = await quiet.delivery_of(event_id)
    assert kept["webhookEndpointId"] == made["id"]
    await quiet.resend(kept["id"], status=409)


async def test_an_endpoint_of_others_reads_as_missing(quiet: Shop) -> None:
    """Every operation answers with the same words as for an id that nobody has."""
    theirs = await (await Shop.open(quiet.app)).endpoint()
    before = None
    for endpoint_id in (theirs["id"], str(uuid4()), "1"):
        path = f"{ENDPOINTS}/{endpoint_id}"
        answers = [
            await quiet.owner.get(path, status=404),
            await quiet.owner.patch(path, {"name": "Mine"}, status=404),
            await quiet.owner.delete(path, status=404),
            *[await quiet.owner.post(f"{path}/{verb}", status=404)
              for verb in ("disable", "enable", "test")],
            await quiet.owner.post(f"{path}/recover", {"since": "2026-01-01"}, status=404),
        ]  # fmt: skip
        words = [(answer.error, answer.json["message"]) for answer in answers]
        assert before in (None, words)
        before = words


async def test_all_that_is_done_to_endpoints_is_noted(quiet: Shop) -> None:
    """Each action once, with the endpoint and its environment; what changes nothing is not."""
    endpoint_id = (await quiet.endpoint())["id"]
    path = f"{ENDPOINTS}/{endpoint_id}"
    await quiet.owner.patch(path, {"name": "Other"}, status=200)
    event_id = await quiet.emit()
    for verb in ("test", "disable", "disable", "enable", "enable"):
        await quiet.act(endpoint_id, verb)
    await quiet.resend((await quiet.delivery_of(event_id))["id"])
    await quiet.act(endpoint_id, "recover", {"since": "2026-01-01", "preview": True})
    await quiet.act(endpoint_id, "recover", {"since": "2026-01-01"})
    await quiet.owner.delete(path, status=200)
    await quiet.endpoint("http://example.com", status=422)
    events = (await quiet.owner.get(f"{PORTAL}/events", status=200)).data
    assert [event["eventType"] for event in events] == [
        "webhook_endpoint.deleted", "webhook_endpoint.recovered", "webhook_delivery.resent",
        "webhook_endpoint.enabled", "webhook_endpoint.disabled", "webhook_endpoint.tested",
        "webhook_endpoint.updated", "webhook_endpoint.created", "business.registered",
    ]  # fmt: skip
    for event in events[:-1]:
        assert event["metadata"]["webhookEndpointId"] == endpoint_id
        assert event["actorUserId"] == quiet.business.user_id
    assert events[-2]["metadata"]["url"] == URL


async def test_a_repeated_key_makes_one_endpoint(quiet_app: App) -> None:
    """The same Idempotency-Key answers with the first endpoint."""
    shop = await Shop.open(quiet_app)
    headers = {"idempotency-key": "make-one"}
    first = await shop.owner.post(ENDPOINTS, BODY, headers=headers, status=201)
    again = await shop.owner.post(ENDPOINTS, BODY, headers=headers, status=201)
    assert again.data == first.data
    assert again.headers["idempotent-replayed"] == "true"
    assert len((await shop.owner.get(ENDPOINTS, status=200)).data) == 1
