"""Automatic assignment: in turn, to members who are online, each conversation once."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from tests.make import Business, Make
from tests.messaging.inbox_desk import PRESENCE, TALKS, Inbox
from tests.messaging.whatsapp_business import later
from tillhouse.access.process import Services
from tillhouse.kit.clock import parse_timestamp


@pytest.fixture
async def inbox(services: Services, business: Business) -> Inbox:
    """Customers may write to it."""
    return await Inbox.open(services, business)


async def test_who_waits_is_assigned_to_who_is_online(inbox: Inbox) -> None:
    """Told once, with the member, and marked as automatic; nobody online: nobody assigned."""
    talk = await inbox.hear(1)
    await inbox.work()
    assert (await inbox.talk(talk))["assignee"] is None
    await inbox.owner.comes()
    await inbox.work()
    shown = await inbox.talk(talk)
    assert shown["assignee"] == {"id": inbox.owner.id, "name": "Ada Owner"}
    [told] = await inbox.told()
    assert told == {
        "conversationId": talk, "assigneeId": inbox.owner.id, "assigneeName": "Ada Owner",
        "assignedAt": shown["assignedAt"], "isAutomatic": True,
    }  # fmt: skip
    await inbox.hear(1, "Again")
    await inbox.work()
    assert len(await inbox.told()) == 1


async def test_members_take_turns(inbox: Inbox, make: Make) -> None:
    """One after the other, also when conversations come one by one."""
    members = [inbox.owner, *[await inbox.member(make) for _ in range(2)]]
    for member in members:
        await member.comes()
    for number in range(9):
        await inbox.hear(number)
        await inbox.work()
    order = [data["assigneeId"] for data in await inbox.told()]
    assert order[:3] == order[3:6] == order[6:]
    assert set(order) == {member.id for member in members}


async def test_twenty_at_once_over_three_members(inbox: Inbox, make: Make) -> None:
    """Assigned by several processes at once: each once, and evenly."""
    for member in [inbox.owner, *[await inbox.member(make) for _ in range(2)]]:
        await member.comes()
    await asyncio.gather(
        *(inbox.hear(number) for number in range(20)), *(inbox.work() for _ in range(4))
    )
    await inbox.work(later(seconds=5), processes=4)
    shares = await inbox.shares()
    assert sorted(shares.values()) == [6, 7, 7]


async def test_two_come_online_to_a_backlog(inbox: Inbox, make: Make) -> None:
    """A hundred wait: each is assigned once, those who wait longest first."""
    other = await inbox.member(make)
    talks = [await inbox.hear(number) for number in range(100)]
    await asyncio.gather(
        inbox.owner.comes(), other.comes(), *(inbox.work(processes=2) for _ in range(2))
    )
    await inbox.work(later(seconds=5), processes=4)
    assert sum((await inbox.shares()).values()) == 100
    # A batch is told of in one transaction: the order within it is the order of waiting.
    told = [data["conversationId"] for data in await inbox.told()]
    assert told == talks


async def test_a_person_and_the_inbox_at_once(inbox: Inbox) -> None:
    """Two assigners: one outcome, and an event for each change of it."""
    for number in range(10):
        talk = await inbox.hear(number)
        await inbox.owner.comes()
        await asyncio.gather(
            inbox.change(talk, assignee_id=inbox.owner.id), inbox.work(processes=2)
        )
        await inbox.work(later(seconds=5))
        assert (await inbox.talk(talk))["assignee"]["id"] == inbox.owner.id
    assert (await inbox.shares())[inbox.owner.id] == 10


async def test_a_conversation_that_is_held_is_assigned_later(
    inbox: Inbox, sql: asyncpg.Connection
) -> None:
    """The inbox passes over it, assigns the others, and comes back."""
    held, other = await inbox.hear(1), await inbox.hear(2)
    await inbox.owner.comes()
    async with sql.transaction():
        await sql.execute("SELECT FROM conversations WHERE id = $1::text::uuid FOR UPDATE", held)
        await inbox.work()
        assert (await inbox.talk(other))["assignee"] is not None
        assert (await inbox.talk(held))["assignee"] is None
    await inbox.work(later(seconds=5))
    assert (await inbox.talk(held))["assignee"] is not None


async def test_presence_ends_unless_it_is_renewed(inbox: Inbox, sql: asyncpg.Connection) -> None:
    """A member who is away, or has left, gets nothing."""
    assert (await inbox.api.get(PRESENCE, status=200)).data == []
    shown = await inbox.owner.comes(seconds=60)
    [listed] = (await inbox.api.get(PRESENCE, status=200)).data
    assert listed == shown == {
        "userId": inbox.owner.id, "name": "Ada Owner", "onlineUntil": shown["onlineUntil"],
    }  # fmt: skip
    await sql.execute(
        "UPDATE messaging_presence SET online_until = now() WHERE user_id = $1::text::uuid",
        inbox.owner.id,
    )
    talk = await inbox.hear(1)
    await inbox.work()
    assert (await inbox.talk(talk))["assignee"] is None
    assert (await inbox.owner.comes(seconds=60))["onlineUntil"] is not None
    assert (await inbox.owner.comes(online=False))["onlineUntil"] is None
    await inbox.work()
    assert (await inbox.api.get(PRESENCE, status=200)).data == []
    assert (await inbox.talk(talk))["assignee"] is None


async def test_a_key_is_not_online(inbox: Inbox, make: Make) -> None:
    """Nor is somebody whose role may not write; times have bounds."""
    await inbox.api.put(PRESENCE, {}, status=401)
    for role in ("kitchen", "housekeeping"):
        member = await inbox.member(make, role)
        await member.api.put(PRESENCE, {}, status=403)
    desk = await inbox.member(make, "front_desk")
    await desk.api.put(PRESENCE, {}, status=200)
    for seconds in (59, 43_201, "300", None):
        answer = await inbox.owner.api.put(PRESENCE, {"seconds": seconds}, status=422)
        assert answer.wrong_fields == {"seconds"}
    answer = await inbox.owner.api.put(PRESENCE, {"online": "yes"}, status=422)
    assert answer.wrong_fields == {"online"}


async def test_it_is_switched_off_and_on(inbox: Inbox) -> None:
    """Off, conversations wait; on, those that waited are assigned. For each book by itself."""
    path = "/v1/messaging/inbox"
    assert (await inbox.api.get(path, status=200)).data == {"assignsAutomatically": True}
    off = (await inbox.api.patch(path, {"assigns_automatically": False}, status=200)).data
    assert off == (await inbox.api.get(path, status=200)).data == {"assignsAutomatically": False}
    live = await inbox.business.client("messaging:read", environment="live")
    assert (await live.get(path, status=200)).data == {"assignsAutomatically": True}
    await inbox.owner.comes()
    talk = await inbox.hear(1)
    await inbox.work()
    assert (await inbox.talk(talk))["assignee"] is None
    await inbox.api.patch(path, {"assigns_automatically": True}, status=200)
    await inbox.work()
    assert (await inbox.talk(talk))["assignee"] is not None
    answer = await inbox.api.patch(path, {"assigns_automatically": None}, status=422)
    assert answer.wrong_fields == {"assigns_automatically"}


async def test_who_is_unassigned_waits_for_the_next_message(inbox: Inbox) -> None:
    """Taking somebody off holds until the customer writes again."""
    await inbox.owner.comes()
    talk = await inbox.hear(1)
    await inbox.work()
    await inbox.change(talk, assignee_id=None)
    await inbox.work(later(seconds=5))
    assert (await inbox.talk(talk))["assignee"] is None
    await inbox.hear(1, "Hello?")
    await inbox.work()
    assert (await inbox.talk(talk))["assignee"] is not None
    assert [data["isAutomatic"] for data in await inbox.told()] == [True, False, True]


async def test_what_opens_again_is_assigned(inbox: Inbox) -> None:
    """By the customer, by a person, or by itself."""
    talks = [await inbox.hear(number) for number in range(4)]
    for talk in talks[:3]:
        await inbox.change(talk, status="closed")
    until = later(hours=1)
    snoozed = {"status": "snoozed", "snoozed_until": until.isoformat()}
    await inbox.change(talks[3], **snoozed)
    await inbox.owner.comes()
    await inbox.work()
    assert await inbox.told() == []
    await inbox.hear(0, "One more thing")
    await inbox.change(talks[1], status="open")
    await inbox.work(later(minutes=59))
    assert {data["conversationId"] for data in await inbox.told()} == set(talks[:2])
    await inbox.work(later(minutes=61))
    assert {data["conversationId"] for data in await inbox.told()} == {*talks[:2], talks[3]}
    listed = await inbox.api.get(f"{TALKS}?status=closed", status=200)
    assert [one["id"] for one in listed.data] == [talks[2]]


async def test_a_snooze_that_was_put_off_does_not_end_early(inbox: Inbox) -> None:
    """The later time counts; closed meanwhile, it stays closed."""
    first, second = await inbox.hear(1), await inbox.hear(2)
    for talk in (first, second):
        for hours in (1, 2):
            until = later(hours=hours).isoformat()
            await inbox.change(talk, status="snoozed", snoozed_until=until)
    await inbox.change(second, status="closed")
    await inbox.work(later(minutes=90))
    shown = await inbox.talk(first)
    assert shown["status"] == "snoozed"
    assert parse_timestamp(shown["snoozedUntil"]) > later(minutes=90)
    await inbox.work(later(hours=2) + timedelta(minutes=1))
    assert [(await inbox.talk(talk))["status"] for talk in (first, second)] == ["open", "closed"]
    assert (await inbox.talk(first))["snoozedUntil"] is None


async def test_a_stranger_sees_no_presence(inbox: Inbox, make: Make) -> None:
    """Members of one business are online in no other."""
    await inbox.owner.comes()
    stranger = await make.business()
    key = await stranger.client("messaging:read", "messaging:write")
    assert (await key.get(PRESENCE, status=200)).data == []
