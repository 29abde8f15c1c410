"""Customers: one number and one address belong to one customer, however they are spelled."""

import asyncio
from typing import Any

import pytest

from tests.api import Api
from tests.customers.events import told
from tests.make import Business, Make

PATH = "/v1/customers"
CHINEDU: dict[str, Any] = {
    "name": "Chinedu Eze",
    "email": "Chinedu@Example.com",
    "phone_number": "0803 000 0000",
    "whatsapp_number": "+234 (0)805-000-0000",
    "notes": " Likes it hot. ",
}


async def test_a_customer_is_kept_in_one_spelling(client: Api) -> None:
    """Numbers in E.164 by the business's country, the address in lower case, texts trimmed."""
    made = (await client.post(PATH, CHINEDU, status=201)).data
    assert made == {
        "id": made["id"],
        "name": "Chinedu Eze",
        "email": "chinedu@example.com",
        "phoneNumber": "+2348030000000",
        "whatsappNumber": "+2348050000000",
        "notes": "Likes it hot.",
        "creditBalance": 0,
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
    }
    assert (await client.get(f"{PATH}/{made['id']}", status=200)).data == made
    assert (await client.get(PATH, status=200)).data == [made]


async def test_a_name_is_all_that_is_needed(client: Api) -> None:
    """Two of one name are two people."""
    first = (await client.post(PATH, {"name": "A"}, status=201)).data
    second = (await client.post(PATH, {"name": " A "}, status=201)).data
    assert first["id"] != second["id"]
    assert first["phoneNumber"] is first["email"] is first["notes"] is None


async def test_every_wrong_field_is_named(client: Api) -> None:
    """Those of a wrong form and those that only the business's country shows, in one answer."""
    body = {"name": " ", "email": "ada@", "phone_number": "12", "whatsapp_number": "+999 123 4567"}
    answer = await client.post(PATH, body, status=422)
    assert answer.wrong_fields == {"name", "email", "phone_number", "whatsapp_number"}
    answer = await client.post(PATH, {"name": "Ada", "phone_number": "0803"}, status=422)
    assert answer.wrong_fields == {"phone_number"}
    made = (await client.post(PATH, {"name": "Ada"}, status=201)).data
    for wrong in ("0803", "call me", "1-800-FLOWERS", "08030000000 ext 5", "+" + "1" * 39):
        body = {"name": "", "phone_number": wrong}
        answer = await client.patch(f"{PATH}/{made['id']}", body, status=422)
        assert answer.wrong_fields == {"name", "phone_number"}, wrong


@pytest.mark.parametrize(
    ("field", "first", "second"),
    [
        ("phone_number", "08030000000", "+234 803 000-0000"),
        ("email", "ada@example.com", "ADA@example.COM"),
    ],
)
async def test_what_is_taken_is_refused_by_name(
    client: Api, field: str, first: str, second: str
) -> None:
    """Another spelling is the same; the refusal says whose it is, at making and at changing."""
    owner = (await client.post(PATH, {"name": "Owner", field: first}, status=201)).data
    answer = await client.post(PATH, {"name": "Other", field: second}, status=409)
    assert answer.error == "request_failed"
    assert "Owner" in answer.json["message"]
    assert owner["id"] in answer.json["message"]
    assert answer.wrong_fields == {field}
    other = (await client.post(PATH, {"name": "Other"}, status=201)).data
    answer = await client.patch(f"{PATH}/{other['id']}", {field: second}, status=409)
    assert owner["id"] in answer.json["message"]
    assert (await client.get(f"{PATH}/{other['id']}", status=200)).data == other
    await client.patch(f"{PATH}/{owner['id']}", {field: second}, status=200)


async def test_of_many_with_one_number_one_is_made(client: Api) -> None:
    """At once, in two spellings: one 201, and every other is told whose the number is."""
    spellings = ("0803 000 0000", "+2348030000000")
    answers = await asyncio.gather(
        *(client.post(PATH, {"name": "A", "phone_number": spellings[n % 2]}) for n in range(20))
    )
    [made] = [answer.data["id"] for answer in answers if answer.status == 201]
    refused = [answer for answer in answers if answer.status == 409]
    assert len(refused) == 19
    assert all(made in answer.json["message"] for answer in refused)
    assert (await client.get(PATH, status=200)).json["meta"]["total"] == 1
    assert len(await told(client)) == 1


async def test_two_who_change_to_one_number_at_once_are_not_both_heard(client: Api) -> None:
    """The index decides: one has it, the others read 409."""
    ids = [(await client.post(PATH, {"name": "A"}, status=201)).data["id"] for _ in range(8)]
    body = {"phone_number": "+2348030000000"}
    answers = await asyncio.gather(*(client.patch(f"{PATH}/{id_}", body) for id_ in ids))
    assert sorted(answer.status for answer in answers) == [200] + [409] * 7


async def test_a_number_is_free_after_its_customer_is_deleted(client: Api) -> None:
    """Delete, then make again: another id, and the first stays gone."""
    first = (await client.post(PATH, CHINEDU, status=201)).data
    gone = (await client.delete(f"{PATH}/{first['id']}", status=200)).data
    assert gone.keys() == {"id", "deletedAt"}
    assert gone["id"] == first["id"]
    second = (await client.post(PATH, CHINEDU, status=201)).data
    assert second["id"] != first["id"]
    assert (await client.get(PATH, status=200)).data == [second]
    for method in ("GET", "PATCH", "DELETE"):
        await client.request(method, f"{PATH}/{first['id']}", {}, status=404)


async def test_a_patch_changes_what_it_names(client: Api) -> None:
    """Null clears, what is absent stays, and what is as it was changes nothing at all."""
    made = (await client.post(PATH, CHINEDU, status=201)).data
    path = f"{PATH}/{made['id']}"
    for same in ({}, {"phone_number": "+234 803 000 0000", "email": "chinedu@example.COM"}):
        assert (await client.patch(path, same, status=200)).data == made
    body = {"email": None, "notes": "", "name": "Chi  Eze"}
    changed = (await client.patch(path, body, status=200)).data
    assert changed == {
        **made,
        "name": "Chi Eze",
        "email": None,
        "notes": None,
        "updatedAt": changed["updatedAt"],
    }
    assert (await client.get(path, status=200)).data == changed
    await client.patch(path, {"name": None}, status=422)


async def test_changes_are_told(client: Api) -> None:
    """Created with all that is known, updated with what changed, else nothing."""
    made = (await client.post(PATH, {"name": "Ada", "phone_number": "08030000000"})).data
    path = f"{PATH}/{made['id']}"
    await client.patch(path, {"name": "Ada"}, status=200)
    await client.patch(path, {"email": "ada@example.com"}, status=200)
    await client.patch(path, {"email": "ada@"}, status=422)
    created, updated = await told(client)
    assert created["type"] == "contact.created"
    assert created["data"] == {
        "businessId": created["businessId"],
        "eventType": "CONTACT_CREATED",
        "entityType": "customer",
        "entityId": made["id"],
        "storeId": None,
        "metadata": {"name": "Ada", "phoneNumber": "+2348030000000"},
        "occurredAt": made["createdAt"],
    }
    assert updated["type"] == "contact.updated"
    assert updated["data"]["eventType"] == "CONTACT_UPDATED"
    assert updated["data"]["metadata"] == {"name": "Ada", "email": "ada@example.com"}


async def test_numbers_are_read_as_dialled_at_home(make: Make) -> None:
    """The same digits are another number in another country."""
    british = await make.business(country="GB", currency="GBP", time_zone="Europe/London")
    made = await british.customer(phone_number="(020) 7946 0018")
    assert made["phoneNumber"] == "+442079460018"


async def test_books_share_no_customer(business: Business, make: Make) -> None:
    """One number may be in both books and in two businesses; each sees its own."""
    stranger = await make.business(country="NG")
    records = [
        await business.customer("test", phone_number="08030000000"),
        await business.customer("live", phone_number="08030000000"),
        await stranger.customer("test", phone_number="08030000000"),
    ]
    assert len({record["id"] for record in records}) == 3
    client = await business.client("customers:read")
    assert (await client.get(f"{PATH}?search=chinedu", status=200)).data == [records[0]]
