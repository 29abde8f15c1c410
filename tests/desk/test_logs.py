"""Events, usage and the audit log in the browser."""

from typing import get_args

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.make import Business, Make
from tests.webhooks.shop import Shop
from tillhouse.access.scopes import Role
from tillhouse.kit.ids import new_id

LOGS, EVENTS, USAGE = (f"/desk/developers/{name}" for name in ("logs", "events", "usage"))
# A public address, so that saving it asks no name server.
URL = "https://198.41.0.4/hook"
BUILDS = {"owner", "admin", "developer"}


async def test_the_audit_log_is_found_by_its_filters(owner: Browser, business: Business) -> None:
    """By its kind, its day and its key, page by page."""
    key = await business.key("orders:read", name="Shop server")
    for _ in range(26):
        await business.endpoint(url=URL, name=f"Hook {_}") if _ < 8 else await business.owner.patch(
            f"/api/developer/api-keys/{key['id']}", {"name": f"Server {_}"}, status=200
        )
    page = await owner.open(LOGS)
    assert "Webhook endpoint Hook 7: created" in page.words or "page=2" in " ".join(page.links)
    page = await owner.open(next(link for link in page.links if "page=2" in link))
    assert "API key Shop server: created" in page.words
    page = await owner.open(f"{LOGS}?event_type=webhook_endpoint.created")
    assert page.words.count("webhook_endpoint.created") >= 8
    assert "api_key.created" not in page.words.replace("Such as api_key.created", "")
    page = await owner.open(f"{LOGS}?api_key_id={key['id']}&start_date=2026-01-01")
    assert "Server 25" in page.words
    assert "Nothing fits" in (await owner.open(f"{LOGS}?end_date=2001-01-01")).words


async def test_an_event_is_shown_beside_its_shape_and_sent_again(
    owner: Browser, business: Business
) -> None:
    """Each field as documented; by a button to the endpoint that was told of it."""
    await business.endpoint(url=URL, name="Shop hook")
    other = await business.endpoint(url=URL, name="Other hook", events=["order.updated"])
    shop = Shop(owner.api.app, business)
    event_id = await shop.emit()
    page = await owner.open(EVENTS)
    assert f"{EVENTS}/{event_id}" in page.links
    assert "data-live" in {name for _, found in page.elements for name in found}
    page = await owner.open(f"{EVENTS}?events=order.updated")
    assert f"{EVENTS}/{event_id}" not in page.links
    page = await owner.open(f"{EVENTS}/{event_id}")
    for text in (f'"id": "{event_id}"', "entityId", "occurredAt", "uuid or null"):
        assert text in page.words
    assert f"/desk/developers/webhooks/{other['id']}" in page.links
    [delivery] = await shop.deliveries(f"event_id={event_id}")
    await owner.submit(f"/desk/developers/webhooks/deliveries/{delivery['id']}/resend")
    assert len(await shop.audit("webhook_delivery.resent")) == 1
    await owner.open(f"{EVENTS}/{new_id()}", status=404)


async def test_a_large_event_is_shown_up_to_a_bound(owner: Browser, business: Business) -> None:
    """The page stays small."""
    shop = Shop(owner.api.app, business)
    change = shop.change()
    change.metadata = {"words": ["jollof rice"] * 80_000}
    event_id = await shop.emit(data=change)
    page = await owner.open(f"{EVENTS}/{event_id}")
    assert "more characters are left out" in page.words
    assert len(owner.response.body) < 60_000


async def test_usage_tells_requests_of_this_book(owner: Browser, business: Business) -> None:
    """By day, route and status, for the period that is chosen."""
    page = await owner.open(USAGE)
    assert "No requests in these days" in page.words
    for days in (7, 30, 90):
        page = await owner.open(f"{USAGE}?days={days}")
        assert f"{USAGE}?days={days}" in page.links
        bars = [tag for tag, found in page.elements if (found.get("class") or "") == "g-grid"]
        assert len(bars) == 2
        assert page.words.count("Requests by day") == 2


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_sees_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """The audit log and usage are for those who manage keys."""
    browser = await signed_in(business if role == "owner" else await make.member(business, role))
    assert (LOGS in browser.page.links) == (role in BUILDS)
    for path in (LOGS, EVENTS, USAGE):
        await browser.open(path, status=200 if role in BUILDS else 403)


async def test_another_business_has_no_event_here(
    business: Business, make: Make, signed_in: SignsIn, owner: Browser
) -> None:
    """Nor is one in the other book."""
    event_id = await Shop(owner.api.app, business).emit()
    stranger = await signed_in(await make.business())
    await stranger.open(f"{EVENTS}/{event_id}", status=404)
    await owner.submit("/desk/mode", mode="live")
    await owner.open(f"{EVENTS}/{event_id}", status=404)
