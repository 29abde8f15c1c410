"""The inbox: status, unread messages, notes, quick replies, filters and search."""

import asyncio

import pytest

from tests.make import Business, Make
from tests.messaging.inbox_desk import TALKS, Inbox
from tests.messaging.whatsapp_business import later
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, NumberId
from tillhouse.messaging.actions.inbound import receive
from tillhouse.messaging.types import Incoming
from tillhouse.webhooks.emit import Source

REPLIES = "/v1/messaging/quick-replies"
NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
async def inbox(services: Services, business: Business) -> Inbox:
    """Customers may write to it."""
    return await Inbox.open(services, business)


async def test_messages_are_unread_until_they_are_read(inbox: Inbox) -> None:
    """All of them, or up to one; those of the business never are."""
    [talk] = {await inbox.hear(1, text) for text in ("One", "Two", "Three")}
    path = f"{TALKS}/{talk}"
    await inbox.api.post(f"{path}/messages", {"text": "Hello"}, status=201)
    assert (await inbox.talk(talk))["unreadCount"] == 3
    _, third, second, first = (await inbox.api.get(f"{path}/messages", status=200)).data
    for message, left in ((first, 2), (second, 1), (first, 1), (third, 0)):
        read = await inbox.api.post(f"{path}/read", {"message_id": message["id"]}, status=200)
        assert read.data["unreadCount"] == left
    await inbox.hear(1, "Four")
    assert (await inbox.api.post(f"{path}/read", {}, status=200)).data["unreadCount"] == 0


async def test_a_mark_is_of_its_conversation(inbox: Inbox) -> None:
    """Another's message, none, and no id at all are refused."""
    talk, other = await inbox.hear(1), await inbox.hear(2)
    [message] = (await inbox.api.get(f"{TALKS}/{other}/messages", status=200)).data
    for message_id in (message["id"], NOBODY, "last", 5):
        body = {"message_id": message_id}
        answer = await inbox.api.post(f"{TALKS}/{talk}/read", body, status=422)
        assert answer.wrong_fields == {"message_id"}
        assert (await inbox.talk(talk))["unreadCount"] == 1
    await inbox.api.post(f"{TALKS}/{NOBODY}/read", {"message_id": message["id"]}, status=404)
    await inbox.api.post(f"{TALKS}/{NOBODY}/read", {}, status=404)


async def test_a_message_that_comes_twice_at_once_is_unread_once(
    inbox: Inbox, services: Services
) -> None:
    """Both find that it isn't there: the database keeps one, and the other counts nothing."""
    talk = await inbox.hear(1)
    async with services.pool.reading() as db:
        row = await db.fetchrow(
            "SELECT book_id, id FROM messaging_numbers WHERE book_id = (SELECT book_id FROM "
            "conversations WHERE id = $1::text::uuid)",
            talk,
        )
    assert row is not None
    origin = Source(inbox.business_id, Book(BookId(row["book_id"]), "test"))
    for number in range(20):
        incoming = Incoming(
            phone="+2348030000001", type="text", text="Twice", provider="sandbox",
            number_id=NumberId(row["id"]), provider_message_id=f"twice.{number}", at=now(),
        )  # fmt: skip

        async def keep(incoming: Incoming = incoming) -> bool:
            async with services.pool.transaction() as db:
                return await receive(db, origin, incoming, now()) is not None

        assert sum(await asyncio.gather(*(keep() for _ in range(4)))) == 1
    assert (await inbox.talk(talk))["unreadCount"] == 21


async def test_a_conversation_is_closed_and_opened(inbox: Inbox) -> None:
    """By a person, and by the customer who writes again."""
    talk = await inbox.hear(1)
    assert (await inbox.talk(talk))["status"] == "open"
    assert (await inbox.change(talk, status="closed")).data["status"] == "closed"
    assert (await inbox.change(talk, assignee_id=inbox.owner.id)).data["status"] == "closed"
    await inbox.hear(1, "Still there?")
    shown = await inbox.talk(talk)
    assert (shown["status"], shown["assignee"]["id"]) == ("open", inbox.owner.id)
    until = later(hours=1).isoformat()
    shown = (await inbox.change(talk, status="snoozed", snoozed_until=until)).data
    assert (shown["status"], shown["snoozedUntil"] is None) == ("snoozed", False)
    shown = (await inbox.change(talk, assignee_id=None)).data
    assert (shown["status"], shown["snoozedUntil"] is None) == ("snoozed", False)
    await inbox.hear(1, "Hello?")
    shown = await inbox.talk(talk)
    assert (shown["status"], shown["snoozedUntil"]) == ("open", None)
    await inbox.change(talk, status="snoozed", snoozed_until=until)
    shown = (await inbox.change(talk, status="open")).data
    assert (shown["status"], shown["snoozedUntil"]) == ("open", None)


async def test_a_snooze_has_its_time(inbox: Inbox) -> None:
    """In the future, within a year, and with the status that it belongs to."""
    talk = await inbox.hear(1)
    soon = later(hours=1).isoformat()
    for patch, field in (
        ({"status": "snoozed"}, "snoozed_until"),
        ({"status": "snoozed", "snoozed_until": None}, "snoozed_until"),
        ({"status": "snoozed", "snoozed_until": "2020-01-01T00:00:00Z"}, "snoozed_until"),
        ({"status": "snoozed", "snoozed_until": later(days=400).isoformat()}, "snoozed_until"),
        ({"status": "snoozed", "snoozed_until": "tomorrow"}, "snoozed_until"),
        ({"status": "closed", "snoozed_until": soon}, "snoozed_until"),
        ({"snoozed_until": soon}, "snoozed_until"),
        ({"status": "done"}, "status"),
        ({"status": None}, "status"),
    ):
        answer = await inbox.change(talk, status_=422, **patch)
        assert answer.wrong_fields == {field}, patch
    answer = await inbox.change(talk, status_=422, status="snoozed", assignee_id="Ada")
    assert answer.wrong_fields == {"snoozed_until", "assignee_id"}
    assert (await inbox.talk(talk))["status"] == "open"


async def test_a_list_is_narrowed(inbox: Inbox) -> None:
    """By status, by who answers, by what is unread, and by all of it at once."""
    talks = [await inbox.hear(number) for number in range(4)]
    await inbox.change(talks[0], status="closed")
    await inbox.change(talks[1], assignee_id=inbox.owner.id)
    await inbox.api.post(f"{TALKS}/{talks[2]}/read", {}, status=200)
    for query, wanted in (
        ("status=open", talks[1:]),
        ("status=closed", talks[:1]),
        ("status=snoozed", []),
        ("assigned=true", talks[1:2]),
        ("assigned=false", [talks[0], *talks[2:]]),
        ("unread=true", [*talks[:2], talks[3]]),
        ("unread=false", talks[2:3]),
        ("status=open&assigned=false&unread=true", talks[3:]),
        (f"status=closed&assignee_id={inbox.owner.id}", []),
    ):
        answer = await inbox.api.get(f"{TALKS}?{query}", status=200)
        assert [one["id"] for one in answer.data] == wanted[::-1], query
        assert answer.json["meta"]["total"] == len(wanted), query
    for query in ("status=done", "unread=perhaps", "assigned=2"):
        answer = await inbox.api.get(f"{TALKS}?{query}", status=422)
        assert answer.wrong_fields == {query.split("=")[0]}


async def test_a_customer_is_searched(inbox: Inbox, business: Business) -> None:
    """By the beginnings of words of the name, the number however it is written, the address."""
    await business.customer(name="Bola Ahmed", phone_number="+2348030000001", email="b@x.com")
    known, unknown = await inbox.hear(1), await inbox.hear(2)
    for search, wanted in (
        ("bol", [known]),
        ("ahm BO", [known]),
        ("ola", []),
        ("b@x.com", [known]),
        ("%2B2348030000002", [unknown]),
        ("%2B234 803-000-0002", [unknown]),
        ("!%26|", []),
    ):
        answer = await inbox.api.get(f"{TALKS}?search={search}", status=200)
        assert [one["id"] for one in answer.data] == wanted, search


async def test_notes_are_for_members(inbox: Inbox) -> None:
    """The latest first, with their author; no customer is sent one."""
    talk = await inbox.hear(1)
    path = f"{TALKS}/{talk}/notes"
    headers = {"service-environment": "test"}
    await inbox.api.post(path, {"text": "By program"}, status=201)
    await inbox.business.owner.post(path, {"text": " By hand "}, headers=headers, status=201)
    listed = await inbox.api.get(path, status=200)
    assert [(one["text"], one["author"] and one["author"]["name"]) for one in listed.data] == [
        ("By hand", "Ada Owner"),
        ("By program", None),
    ]
    assert listed.json["meta"]["total"] == 2
    assert len((await inbox.api.get(f"{TALKS}/{talk}/messages", status=200)).data) == 1
    for text in ("", " ", 5, None, "x" * 4097):
        assert (await inbox.api.post(path, {"text": text}, status=422)).wrong_fields == {"text"}
    await inbox.api.get(f"{TALKS}/{NOBODY}/notes", status=404)
    await inbox.api.post(f"{TALKS}/{NOBODY}/notes", {"text": "x"}, status=404)


async def test_a_quick_reply_is_sent(inbox: Inbox, make: Make) -> None:
    """By its id or its shortcut; another text stays as it is, and another's id is unknown."""
    talk = await inbox.hear(1)
    path = f"{TALKS}/{talk}/messages"
    kept = (await inbox.api.post(REPLIES, {"shortcut": "hours", "text": "9 to 18"})).data
    for body, text in (
        ({"quick_reply_id": kept["id"]}, "9 to 18"),
        ({"text": "/hours"}, "9 to 18"),
        ({"text": "/Hours"}, "/Hours"),
        ({"text": "/unknown"}, "/unknown"),
        ({"text": "See /hours"}, "See /hours"),
        ({"text": "/"}, "/"),
    ):
        assert (await inbox.api.post(path, body, status=201)).data["text"] == text
    other = await Inbox.open(inbox.services, await make.business())
    theirs = (await other.api.post(REPLIES, {"shortcut": "hours", "text": "Never"})).data
    for body, field in (
        ({"quick_reply_id": theirs["id"]}, "quick_reply_id"),
        ({"quick_reply_id": NOBODY}, "quick_reply_id"),
        ({"quick_reply_id": "hours"}, "quick_reply_id"),
        ({"quick_reply_id": kept["id"], "text": "x"}, "quick_reply_id"),
        ({}, "text"),
    ):
        answer = await inbox.api.post(path, body, status=422)
        assert answer.wrong_fields == {field}, body


async def test_a_shortcut_is_there_once(inbox: Inbox) -> None:
    """However many make it at once; it is free again when it was deleted."""
    body = {"shortcut": "hours", "text": "9 to 18"}
    answers = await asyncio.gather(*(inbox.api.post(REPLIES, body) for _ in range(8)))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 7
    [kept] = (await inbox.api.get(REPLIES, status=200)).data
    other = (await inbox.api.post(REPLIES, {**body, "shortcut": "open"}, status=201)).data
    await inbox.api.patch(f"{REPLIES}/{other['id']}", {"shortcut": "hours"}, status=409)
    changed = await inbox.api.patch(f"{REPLIES}/{kept['id']}", {"text": "10 to 18"}, status=200)
    assert (changed.data["shortcut"], changed.data["text"]) == ("hours", "10 to 18")
    await inbox.api.delete(f"{REPLIES}/{kept['id']}", status=200)
    await inbox.api.patch(f"{REPLIES}/{other['id']}", {"shortcut": "hours"}, status=200)
    for wrong, fields in (
        ({"shortcut": "two words", "text": "x"}, {"shortcut"}),
        ({"shortcut": "", "text": " "}, {"shortcut", "text"}),
        ({"shortcut": "x" * 33, "text": "x" * 4097}, {"shortcut", "text"}),
        ({"shortcut": "-x"}, {"shortcut", "text"}),
        ({"shortcut": None, "text": 5}, {"shortcut", "text"}),
    ):
        assert (await inbox.api.post(REPLIES, wrong, status=422)).wrong_fields == fields
