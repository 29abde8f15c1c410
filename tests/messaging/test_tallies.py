"""The totals of the inbox come from tallies, and are what a look at all conversations says."""

import asyncio
from itertools import product

import pytest

from tests.lists import read_all
from tests.make import Business, Make
from tests.messaging.inbox_desk import TALKS, Inbox
from tests.messaging.whatsapp_business import later
from tillhouse.access.process import Services
from tillhouse.jobs.chores import fold
from tillhouse.messaging.store.conversations import CONVERSATION_TALLIES


@pytest.fixture
async def inbox(services: Services, business: Business) -> Inbox:
    """Customers may write to it."""
    return await Inbox.open(services, business)


async def _assert_totals(inbox: Inbox, members: list[str]) -> None:
    """Each filter alone and all of them together find those of all conversations that fit."""
    every = await read_all(inbox.api, TALKS, limit=4)
    statuses = ("", "&status=open", "&status=snoozed", "&status=closed")
    whose = ("", "&assigned=true", "&assigned=false", *(f"&assignee_id={one}" for one in members))
    for status, assignee, unread in product(statuses, whose, ("", "&unread=true", "&unread=false")):
        fitting = [
            talk
            for talk in every
            if talk["status"] in (status or talk["status"])
            and assignee
            in ("", f"&assigned={str(bool(talk['assignee'])).lower()}",
                f"&assignee_id={(talk['assignee'] or {}).get('id')}")
            and unread in ("", f"&unread={str(talk['unreadCount'] > 0).lower()}")
        ]  # fmt: skip
        path = f"{TALKS}?{(status + assignee + unread).lstrip('&')}"
        assert await read_all(inbox.api, path, limit=4) == fitting, path


async def test_totals_are_what_a_look_at_all_says(
    inbox: Inbox, services: Services, make: Make
) -> None:
    """Of many that begin at once, are read, assigned, snoozed, closed, and written to again."""
    member = await inbox.member(make)
    snoozed = {"status": "snoozed", "snoozed_until": later(days=1).isoformat()}
    talks = await asyncio.gather(*(inbox.hear(number) for number in range(18)))
    changes = ({"assignee_id": member.id}, {"status": "closed"}, snoozed)
    for which, talk in enumerate(talks[:15]):
        if which % 2:
            await inbox.api.post(f"{TALKS}/{talk}/read", {}, status=200)
        await inbox.change(talk, **changes[which % 3])
    await _assert_totals(inbox, [member.id, inbox.owner.id])
    await fold(services.pool, CONVERSATION_TALLIES)
    for number, talk in enumerate(talks[:7]):
        await inbox.hear(number)
        await inbox.change(talk, assignee_id=inbox.owner.id)
    await inbox.change(talks[0], assignee_id=None, status="closed")
    await inbox.change(talks[1], **snoozed)
    await _assert_totals(inbox, [member.id, inbox.owner.id])
    await fold(services.pool, CONVERSATION_TALLIES)
    await _assert_totals(inbox, [member.id, inbox.owner.id])
    assert len(await read_all(inbox.api, TALKS)) == 18


async def test_a_change_of_nothing_that_is_asked_for_writes_no_tally(
    inbox: Inbox, business: Business, services: Services
) -> None:
    """A second unread message leaves the conversation as it was to the filters."""
    await inbox.hear(1)
    await fold(services.pool, CONVERSATION_TALLIES)
    await inbox.hear(1)
    async with services.pool.reading() as db:
        changes = await db.fetchval(
            """
            SELECT count(*) FROM conversation_tally_changes c JOIN books b ON b.id = c.book_id
            WHERE b.business_id = $1::text::uuid
            """,
            business.id,
        )
    assert changes == 0
