"""Conversations: one per phone number, assigned to people, the latest first."""

import asyncio
from uuid import uuid4

import pytest

from tests.api import Api
from tests.kitchen.sale_rows import Kitchen
from tests.make import Business, Make
from tests.routes.rooms.messaging import active_number
from tillhouse.access.process import Services

TALKS = "/v1/conversations"
INBOUND = "/v1/messaging/sandbox/inbound"


@pytest.fixture
async def api(business: Business) -> Api:
    """Somebody who may read and write, in a book that has its number."""
    await active_number(business)
    return await business.client("messaging:read", "messaging:write")


async def write(api: Api, phone: str, text: str = "Hello") -> str:
    """A customer writes; the conversation's id."""
    return (await api.post(INBOUND, {"from": phone, "text": text}, status=201)).data[
        "conversationId"
    ]


async def test_a_number_has_one_conversation(
    api: Api, business: Business, services: Services
) -> None:
    """However it is written, and however many write at once."""
    phones = ["+2348030000001", "+234 803 000 0001", "+234-8030000001"] * 3
    found = await asyncio.gather(*(write(api, phone) for phone in phones))
    assert len(set(found)) == 1
    begun = (await api.post(TALKS, {"phone_number": "+234 8030000001"}, status=201)).data
    assert begun["id"] == found[0]
    assert begun["customerPhone"] == "+2348030000001"
    kitchen = await Kitchen.of(services, business)
    received = await kitchen.events("messaging.message.received")
    assert len(received) == 9
    assert set(received[0]) == {
        "conversationId", "messageId", "customerPhone", "messageType", "text", "receivedAt",
    }  # fmt: skip


async def test_the_latest_message_comes_first(api: Api) -> None:
    """A list by last message, with what was said."""
    talks = [await write(api, f"+23480300000{n:02}") for n in range(3)]
    await write(api, "+2348030000000", "Again")
    answer = await api.get(TALKS, status=200)
    assert [talk["id"] for talk in answer.data] == [talks[0], talks[2], talks[1]]
    assert answer.data[0]["lastMessage"]["text"] == "Again"
    assert answer.data[0]["windowEndsAt"] is not None
    assert answer.json["meta"]["total"] == 3
    second = await api.get(TALKS + "?limit=2&page=2", status=200)
    assert [talk["id"] for talk in second.data] == [talks[1]]
    one = (await api.get(f"{TALKS}/{talks[0]}", status=200)).data
    assert one == answer.data[0]


async def test_a_conversation_is_assigned(api: Api, business: Business, services: Services) -> None:
    """To a person of the business, or to nobody; told once per change."""
    talk, other = await write(api, "+2348030000001"), await write(api, "+2348030000002")
    kitchen = await Kitchen.of(services, business)
    for _ in range(2):
        answer = await api.patch(f"{TALKS}/{talk}", {"assignee_id": business.user_id}, status=200)
        assert answer.data["assignee"] == {"id": business.user_id, "name": "Ada Owner"}
        assert answer.data["assignedAt"] is not None
    mine = await api.get(f"{TALKS}?assignee_id={business.user_id}", status=200)
    assert [one["id"] for one in mine.data] == [talk]
    assert mine.json["meta"]["total"] == 1
    answer = await api.patch(f"{TALKS}/{talk}", {"assignee_id": None}, status=200)
    assert answer.data["assignee"] is answer.data["assignedAt"] is None
    assert (await api.patch(f"{TALKS}/{other}", {}, status=200)).data["assignee"] is None
    told = await kitchen.events("messaging.conversation.assigned")
    assert [data["assigneeId"] for data in told] == [business.user_id, None]
    assert told[0]["assigneeName"] == "Ada Owner"
    assert told[0]["conversationId"] == talk


async def test_nobody_else_is_assigned(api: Api, make: Make) -> None:
    """Neither somebody of another business nor somebody who isn't: 422 that names the field."""
    stranger = await make.business()
    talk = await write(api, "+2348030000001")
    for user_id in (stranger.user_id, str(uuid4()), "Ada"):
        answer = await api.patch(f"{TALKS}/{talk}", {"assignee_id": user_id}, status=422)
        assert answer.wrong_fields == {"assignee_id"}


async def test_at_once_the_same_assignment_is_told_once(
    api: Api, business: Business, services: Services
) -> None:
    """Ten press the button: one change, one event."""
    talk = await write(api, "+2348030000001")
    body = {"assignee_id": business.user_id}
    await asyncio.gather(*(api.patch(f"{TALKS}/{talk}", body, status=200) for _ in range(10)))
    kitchen = await Kitchen.of(services, business)
    assert len(await kitchen.events("messaging.conversation.assigned")) == 1


async def test_a_customer_is_known_by_the_number(api: Api, business: Business) -> None:
    """By the WhatsApp number first, then by the phone; in this book alone."""
    names = {}
    for column in ("phone_number", "whatsapp_number"):
        number = {column: "+2348030000001"}
        names[column] = (await business.customer(name=f"By {column}", **number))["id"]
    talk = await write(api, "+2348030000001")
    shown = (await api.get(f"{TALKS}/{talk}", status=200)).data
    assert shown["customer"]["name"] == "By whatsapp_number"
    found = await api.get(f"{TALKS}?customer_id={names['whatsapp_number']}", status=200)
    assert [one["id"] for one in found.data] == [talk]
    assert (await api.get(f"{TALKS}?customer_id={names['phone_number']}", status=200)).data == []


async def test_books_have_conversations_of_their_own(api: Api, business: Business) -> None:
    """A simulated customer is in no live book, and none can be."""
    talk = await write(api, "+2348030000001")
    live = await business.client("messaging:read", "messaging:write", environment="live")
    assert (await live.get(TALKS, status=200)).data == []
    await live.get(f"{TALKS}/{talk}/messages", status=404)
    answer = await live.post(INBOUND, {"from": "+2348030000001", "text": "Hi"}, status=400)
    assert answer.error == "request_failed"


async def test_every_wrong_field_is_named_at_once(api: Api) -> None:
    """The number's and the text's, also when the other's form is wrong."""
    answer = await api.post(INBOUND, {"from": "+1", "text": " "}, status=422)
    assert answer.wrong_fields == {"from", "text"}
    answer = await api.post(INBOUND, {"text": "x" * 4097}, status=422)
    assert answer.wrong_fields == {"from", "text"}
    for number in ("+1", "abc", 5, "+234803000000000000000000"):
        answer = await api.post(TALKS, {"phone_number": number}, status=422)
        assert answer.wrong_fields == {"phone_number"}
