"""Webhooks in the browser: endpoints, their deliveries and their secret, by each role."""

import gzip
import re
import secrets
from datetime import timedelta
from typing import Any, get_args
from uuid import UUID

import asyncpg
import pytest

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.desk.test_live import headers_of
from tests.make import Business, Make
from tests.webhooks.shop import Shop
from tillhouse.access.scopes import Role
from tillhouse.desk.developers.webhooks.words import is_waiting
from tillhouse.kit.clock import parse_timestamp
from tillhouse.kit.ids import new_id

HOOKS = "/desk/developers/webhooks"
NEW, DELIVERIES, SIGNING = f"{HOOKS}/new", f"{HOOKS}/deliveries", f"{HOOKS}/signing"
# A public address, so that saving it asks no name server.
URL = "https://198.41.0.4/hook"
WAITING = 'data-block="latest" data-again="1"'
BUILDS = {"owner", "admin", "developer"}


async def listed(business: Business) -> list[dict[str, Any]]:
    """The endpoints as the API lists them."""
    return (await business.owner.get("/api/developer/webhook-endpoints", status=200)).data


async def test_an_endpoint_is_made_changed_and_ended(owner: Browser, business: Business) -> None:
    """Sent twice it is one; every step is what the API tells."""
    page = await owner.open(NEW)
    fields = page.forms[-1].fields | {"name": "Shop", "url": URL, "events": "order.created"}
    for _ in range(2):
        await owner.send(NEW, fields)
    [one] = await listed(business)
    address = f"{HOOKS}/{one['id']}"
    assert owner.onward == address
    assert (one["events"], one["environment"]) == (["order.created"], "test")
    page = await owner.open(address)
    chosen = [found["value"] for found in named(page, name="events") if "checked" in found]
    assert chosen == ["order.created"]
    await owner.submit(f"{address}/change", name="Till", all="*")
    assert "The endpoint is changed" in (await owner.open(owner.onward)).words
    [one] = await listed(business)
    assert (one["name"], one["events"]) == ("Till", ["*"])
    assert "Every event" in (await owner.open(HOOKS)).words
    await owner.open(address)
    await owner.submit(f"{address}/disable")
    page = await owner.open(owner.onward)
    assert "Disabled since" in page.words
    fields = page.forms[0].fields | {"idempotency_key": str(new_id())}
    page = await owner.send(f"{address}/test", fields, 409)
    assert "enable it first" in page.words
    await owner.submit(f"{address}/enable")
    assert (await listed(business))[0]["status"] == "active"
    await owner.open(address)
    await owner.submit(f"{address}/delete")
    assert owner.onward == HOOKS
    assert await listed(business) == []


async def test_a_refusal_stands_at_its_field(owner: Browser, business: Business) -> None:
    """An address that leads inwards, no event, and a span that ends before it begins."""
    await owner.open(NEW)
    page = await owner.submit(NEW, 422, name="Shop", url="https://127.0.0.1/hook")
    [field] = named(page, **{"aria-invalid": "true"})
    assert (field["name"], field["value"]) == ("url", "https://127.0.0.1/hook")
    assert "events" in {one.get("id", "").removesuffix("-more") for _, one in page.elements}
    assert page.forms[-1].fields["name"] == "Shop"
    one = await business.endpoint(url=URL)
    address = f"{HOOKS}/{one['id']}"
    await owner.open(address)
    page = await owner.submit(f"{address}/change", 422, name="", events="order.created")
    assert {found["name"] for found in named(page, **{"aria-invalid": "true"})} == {"name"}
    page = await owner.submit(
        f"{address}/recover", 422, since="2026-01-31T10:00", until="2026-01-31T09:00"
    )
    assert {found["name"] for found in named(page, **{"aria-invalid": "true"})} == {"until"}
    fields = next(form for form in page.forms if form.action.endswith("/recover")).fields
    assert fields["until"] == "2026-01-31T09:00"
    page = await owner.submit(f"{address}/recover", 422, since="soon")
    assert {found["name"] for found in named(page, **{"aria-invalid": "true"})} == {"since"}


async def test_what_became_of_a_test_is_shown(
    owner: Browser, business: Business, sql: asyncpg.Connection
) -> None:
    """Its block is asked for again until it was tried, or for a minute."""
    one = await business.endpoint(url=URL, name="Shop")
    address = f"{HOOKS}/{one['id']}"
    await owner.open(address)
    assert WAITING not in owner.response.body.decode()
    await owner.submit(f"{address}/test")
    page = await owner.open(owner.onward)
    assert "A test event is on its way" in page.words
    block = headers_of(owner, "latest")
    await owner.open(address, 200, **block)
    assert WAITING in owner.response.body.decode()
    made = (await business.owner.get("/api/developer/webhook-deliveries", status=200)).data
    begun = parse_timestamp(made[0]["createdAt"])
    assert is_waiting(made, begun + timedelta(seconds=59))
    assert not is_waiting(made, begun + timedelta(minutes=1))
    await sql.execute(
        "UPDATE webhook_deliveries SET attempts = 1 WHERE webhook_endpoint_id = $1", UUID(one["id"])
    )
    await owner.open(address, 200, **block)
    assert "webhook.test" in owner.response.body.decode()
    assert WAITING not in owner.response.body.decode()


async def test_nothing_to_recover_says_where_to_look(owner: Browser, business: Business) -> None:
    """A delivery that will be tried again isn't among those that failed for good."""
    one = await business.endpoint(url=URL, name="Shop")
    address = f"{HOOKS}/{one['id']}"
    await business.owner.post(f"/api/developer/webhook-endpoints/{one['id']}/test", status=202)
    page = await owner.open(address)
    fields = next(form for form in page.forms if form.action.endswith("/recover")).fields
    fields = fields | {"since": "2026-01-01T00:00", "preview": "true"}
    page = await owner.send(f"{address}/recover", fields | {"status": "failed"}, 200)
    assert "None. What will be tried again" in page.words
    page = await owner.send(f"{address}/recover", fields | {"status": "pending"}, 200)
    assert "1 delivery would be queued" in page.words


async def test_deliveries_are_found_by_their_filters(owner: Browser, business: Business) -> None:
    """Each narrows; what is older than a page is on the next, and one is sent again once."""
    one = await business.endpoint(url=URL, name="Shop")
    path = f"/api/developer/webhook-endpoints/{one['id']}/test"
    made = [(await business.owner.post(path, status=202)).data for _ in range(26)]
    page = await owner.open(DELIVERIES)
    shown = [link for link in page.links if link.startswith(f"{DELIVERIES}/")]
    assert shown == [f"{DELIVERIES}/{each['id']}" for each in made[:0:-1]]
    older = next(link for link in page.links if "cursor=" in link)
    page = await owner.open(older)
    assert f"{DELIVERIES}/{made[0]['id']}" in page.links
    assert DELIVERIES in page.links
    for query in ("status=failed", "event_type=order.created", "until=2001-01-01"):
        page = await owner.open(f"{DELIVERIES}?{query}")
        assert "No delivery fits" in page.words
    page = await owner.open(f"{DELIVERIES}?since=2001-01-02&until=2001-01-01", status=422)
    assert [field["name"] for field in named(page, **{"aria-invalid": "true"})] == ["until"]
    page = await owner.open(f"{DELIVERIES}?status=pending&endpoint_id={one['id']}&since=2026-01-01")
    assert f"{DELIVERIES}/{made[-1]['id']}" in page.links
    address = f"{DELIVERIES}/{made[-1]['id']}"
    page = await owner.open(address)
    assert '"message": "This is a test of your webhook endpoint."' in page.words
    form = next(form for form in page.forms if form.action == f"{address}/resend")
    for _ in range(2):
        await owner.send(f"{address}/resend", form.fields)
    assert "It is queued again" in (await owner.open(owner.onward)).words
    events = (await business.owner.get(
        "/api/developer/events?event_type=webhook_delivery.resent", status=200)).data  # fmt: skip
    assert len(events) == 1


async def test_a_large_payload_is_shown_up_to_a_bound(owner: Browser, business: Business) -> None:
    """With how much is left out; the page stays small, and so does one of many deliveries."""
    await business.endpoint(url=URL)
    shop = Shop(owner.api.app, business)
    change = shop.change()
    change.metadata = {"words": [secrets.token_hex(8) for _ in range(60_000)]}
    event_id = await shop.emit(data=change)
    [delivery] = await shop.deliveries(f"event_id={event_id}")
    page = await owner.open(f"{DELIVERIES}/{delivery['id']}")
    assert re.search(r"[0-9]{7} more characters are left out", page.words)
    assert len(gzip.compress(owner.response.body)) < 9_000


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """All of it, or nothing."""
    one = await business.endpoint(url=URL)
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    may = role in BUILDS
    assert (HOOKS in browser.page.links) == may
    address = f"{HOOKS}/{one['id']}"
    for path in (HOOKS, NEW, DELIVERIES, SIGNING, address):
        await browser.open(path, status=200 if may else 403)
    fields = browser.page.forms[0].fields
    if not may:
        for path in (NEW, f"{SIGNING}/view", f"{SIGNING}/rotate", f"{address}/change",
                     f"{address}/test", f"{address}/recover", f"{address}/delete"):  # fmt: skip
            await browser.send(path, fields, status=403)
        assert len(await listed(business)) == 1


async def test_another_business_and_the_other_book_are_not_there(
    business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Neither its endpoints, nor its deliveries, nor its secrets."""
    one = await business.endpoint(url=URL)
    path = f"/api/developer/webhook-endpoints/{one['id']}/test"
    delivery = (await business.owner.post(path, status=202)).data
    addresses = (f"{HOOKS}/{one['id']}", f"{DELIVERIES}/{delivery['id']}")
    stranger = await signed_in(await make.business())
    fields = (await stranger.open(NEW)).forms[-1].fields
    own = await signed_in(business)
    await own.submit("/desk/mode", mode="live")
    for address in addresses:
        await stranger.open(address, status=404)
        await own.open(address, status=404)
    for end in ("change", "disable", "enable", "test", "delete"):
        await stranger.send(f"{addresses[0]}/{end}", fields | {"name": "Ours"}, status=404)
    await stranger.send(f"{addresses[1]}/resend", fields, status=404)
    app = one["developerAppId"]
    await stranger.open(f"{SIGNING}?app={app}", status=404)
    await stranger.open(f"{DELIVERIES}?app={app}", status=404)
    page = await own.open(HOOKS)
    assert "No endpoint yet" in page.words
