"""A trial, where the operator set one: what it opens, and what is told when it has ended."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest

from tests.access.conftest import started
from tests.make import Business, Make
from tillhouse.accounts.store import update_subscription
from tillhouse.app import App
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId

APPS = "/api/developer/apps"


@pytest.fixture(scope="module")
async def trying(database_url: str, master_key: str) -> AsyncIterator[App]:
    """An application whose new businesses begin with a trial of ten days."""
    async with started(database_url, master_key, TRIAL_DAYS="10") as app:
        yield app


@pytest.fixture
async def newcomer(trying: App) -> Business:
    """A business that was registered just now."""
    return await Make(trying, trying.services).business()


async def test_a_new_business_is_on_trial_for_as_long_as_is_set(newcomer: Business) -> None:
    """The portal is open, and the end is told."""
    [own] = (await newcomer.owner.get("/api/auth/me", status=200)).data["businesses"]
    assert own["subscription"]["status"] == "trial"
    assert own["subscription"]["apiAccess"] is True
    ends = datetime.fromisoformat(own["subscription"]["trialEndsAt"])
    assert abs(ends - now() - timedelta(days=10)) < timedelta(minutes=1)
    await newcomer.owner.get(APPS, status=200)


async def test_a_trial_that_has_ended_closes_the_portal_and_says_what_to_do(
    newcomer: Business, trying: App
) -> None:
    """The command that it names opens the portal again; keys in use go on all the while."""
    till = await newcomer.client("voice:read")
    await _set(trying, newcomer, "trial", now() - timedelta(seconds=1))
    refused = await newcomer.owner.get(APPS, status=403)
    assert refused.error == "subscription_required"
    assert refused.json["message"].startswith("The trial of this business has ended. ")
    command = f"`tillhouse business subscription {newcomer.id} --status active`"
    assert command in refused.json["message"]
    await till.get("/v1/voice/health", status=200)
    await _set(trying, newcomer, "past_due", None)
    refused = await newcomer.owner.get(APPS, status=403)
    assert "is past due" in refused.json["message"]
    await _set(trying, newcomer, "active", None)
    await newcomer.owner.get(APPS, status=200)


async def _set(app: App, business: Business, status: str, ends_at: datetime | None) -> None:
    async with app.services.pool.transaction() as db:
        assert await update_subscription(
            db, BusinessId(business.id), status, ends_at, now(), api_access=True
        )
