"""The owners hear by mail of each change of a provider that collects real money."""

from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.make import Business, Make
from tests.providers.mail.server import MailServer
from tests.waiting import ended
from tests.webhooks.mailed import mailing_settings
from tillhouse.access.process import Services
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.payins.connecting import noticing

PATH = "/v1/payment-providers"
VERBS = ("connected", "changed", "disconnected")
LIVE = {"service-environment": "live"}
PAYSTACK = {
    "provider": "paystack",
    "secrets": {"secret_key": "sk_live_5f2c1b7e9a0d4c3e8b6a7f1d2e3c4b5a"},
}


async def mailed(services: Services, server: MailServer, *people: Business) -> list[list[str]]:
    """The subjects of the mails that each of these people got, once all are sent."""
    settings = mailing_settings(services.settings, server.address())
    kind = noticing.kind(msgspec.structs.replace(services, settings=settings))
    await ended(JobRunner(services.pool, (kind,), services.job_results).run_due(now()))
    taken = [(mail.recipient, str(mail.message["Subject"])) for mail in server.mails]
    return [[told for to, told in taken if to == person.email] for person in people]


@pytest.fixture
async def people(business: Business, make: Make) -> tuple[Business, Business, Business]:
    """The owner, a second one, and an admin."""
    return business, await make.member(business, "owner"), await make.member(business, "admin")


async def test_each_owner_hears_of_a_change(
    services: Services, people: tuple[Business, Business, Business], sql: asyncpg.Connection
) -> None:
    """Connected by an admin, selected no more, disconnected: a mail each; a mere look is none."""
    server = await MailServer().start()
    admin = people[2].owner
    changes: list[dict[str, object]] = [
        PAYSTACK,
        {"provider": "paystack", "selected": False},
        {"provider": "paystack", "secrets": None},
    ]
    for change in changes:
        await admin.request("PUT", PATH, change, headers=LIVE, status=200)
    told = [f"Payment provider {verb}: paystack" for verb in VERBS]
    found = await mailed(services, server, *people)
    assert [sorted(one) for one in found] == [sorted(told), sorted(told), []]
    mail = next(one for one in server.mails if one.recipient == people[0].email)
    assert "sk_live" not in mail.text
    assert "Ada Owner, from 127.0.0.1" in mail.text
    query = (
        "SELECT array_agg(event_type ORDER BY sequence) FROM audit_events "
        "WHERE business_id = $1 AND event_type LIKE 'payment_provider.%'"
    )
    noted = await sql.fetchval(query, UUID(people[0].id))
    assert noted == [f"payment_provider.{verb}" for verb in VERBS]
    await server.stop()


async def test_who_is_no_owner_any_more_hears_nothing(
    services: Services, people: tuple[Business, Business, Business], sql: asyncpg.Connection
) -> None:
    """The mail is written when it is sent."""
    server = await MailServer().start()
    await people[2].owner.request("PUT", PATH, PAYSTACK, headers=LIVE, status=200)
    lower = "UPDATE members SET role = 'manager' WHERE user_id = $1"
    await sql.execute(lower, UUID(people[1].user_id))
    assert [len(one) for one in await mailed(services, server, *people)] == [1, 0, 0]
    await server.stop()
