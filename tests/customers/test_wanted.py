"""Customers found or made by what is known of them, and what the filters of lists mean."""

import asyncio
from uuid import UUID, uuid4

import pytest

from tests.api import Api
from tests.calls import calling
from tests.customers.events import told
from tests.make import Business
from tillhouse.access.process import Services
from tillhouse.customers.actions import find_or_create, resolve
from tillhouse.customers.rules import NO_CUSTOMER, TwoPeople
from tillhouse.customers.types import WantedCustomer
from tillhouse.kit.errors import Invalid

PATH = "/v1/customers"


async def wanted(services: Services, business: Business, **fields: str) -> tuple[str, bool]:
    """Somebody's id and whether they are new."""
    async with calling(services, business) as call:
        customer_id, is_new = await find_or_create(call, WantedCustomer(**fields))
        return str(customer_id), is_new


async def test_somebody_is_found_by_number_address_or_name(
    services: Services, business: Business, client: Api
) -> None:
    """In any spelling; a number or an address tells more than a name."""
    ada = await business.customer(
        name="Ada Eze", phone_number="08030000000", email="ada@example.com"
    )
    await business.customer(name="ada eze")
    for fields in (
        {"phone_number": "+234 803 000 0000"},
        {"email": "ADA@example.com", "name": "Somebody else"},
        {"phone_number": "08030000000", "email": "new@example.com"},
        {"phone_number": "08030000000", "email": "ada@example.com"},
        {"name": " ADA  eze "},
    ):
        assert await wanted(services, business, **fields) == (ada["id"], False), fields
    assert len(await told(client)) == 2


async def test_somebody_unknown_is_made_and_told(
    services: Services, business: Business, client: Api
) -> None:
    """With what is known; who has no name is called by address or number."""
    fields = {"name": "Bola", "phone_number": "08030000001", "email": "B@example.com"}
    made, is_new = await wanted(services, business, **fields)
    assert is_new
    shown = (await client.get(f"{PATH}/{made}", status=200)).data
    assert (shown["name"], shown["phoneNumber"], shown["email"]) == (
        "Bola",
        "+2348030000001",
        "b@example.com",
    )
    nameless, _ = await wanted(services, business, phone_number="08030000002")
    assert (await client.get(f"{PATH}/{nameless}", status=200)).data["name"] == "+2348030000002"
    only_name, is_new = await wanted(services, business, name="bol")
    assert is_new
    assert [e["data"]["entityId"] for e in await told(client)] == [made, nameless, only_name]
    assert (await client.get(PATH, status=200)).json["meta"]["total"] == 3


async def test_number_and_address_of_two_people_are_refused(
    services: Services, business: Business
) -> None:
    """Nobody can know who is meant, so nobody is made."""
    await business.customer(phone_number="08030000000")
    await business.customer(email="ada@example.com")
    with pytest.raises(TwoPeople):
        await wanted(services, business, phone_number="08030000000", email="ada@example.com")


async def test_what_is_no_number_or_address_is_named_by_its_place(
    services: Services, business: Business
) -> None:
    """As the field of the request that it stands in."""
    with pytest.raises(Invalid) as refused:
        await wanted(services, business, phone_number="0803", email="ada@", at="customer.")
    fields = {detail.field for detail in refused.value.details or ()}
    assert fields == {"customer.phone_number", "customer.email"}


@pytest.mark.parametrize(
    "fields",
    [
        {"phone_number": "08030000000"},
        {"email": "ada@example.com"},
        {"phone_number": "08030000000", "email": "ada@example.com"},
        {"name": "Walk-in"},
    ],
    ids=["phone", "email", "both", "name"],
)
async def test_fifty_at_once_are_one_customer(
    services: Services, business: Business, client: Api, fields: dict[str, str]
) -> None:
    """Whichever comes first makes it, and all others find it."""
    spelled = [{n: v.upper() for n, v in fields.items()}, fields]
    answers = await asyncio.gather(
        *(wanted(services, business, **spelled[n % 2]) for n in range(50))
    )
    assert len({customer_id for customer_id, _ in answers}) == 1
    assert sum(is_new for _, is_new in answers) == 1
    assert (await client.get(PATH, status=200)).json["meta"]["total"] == 1
    assert len(await told(client)) == 1


async def test_nobody_is_found_in_another_book(services: Services, business: Business) -> None:
    """A customer of the live book is made anew in the test book."""
    live = await business.customer("live", name="Ada", phone_number="08030000000")
    for fields in ({"phone_number": "08030000000"}, {"name": "Ada"}):
        found, is_new = await wanted(services, business, **fields)
        assert is_new
        assert found != live["id"]


async def test_filters_mean_one_customer_everybody_or_nobody(
    services: Services, business: Business
) -> None:
    """An id alone; or number and address, which must be one customer's."""
    fields = {"phone_number": "08030000000", "email": "ada@example.com"}
    ada = UUID((await business.customer(**fields))["id"])
    await business.customer(email="bola@example.com")
    await business.customer("live", email="live@example.com")
    phone, email = "0803 000 0000", "ADA@example.com"
    unknown = uuid4()
    async with calling(services, business) as call:

        async def who(
            customer_id: UUID | None, email: str | None, phone: str | None
        ) -> UUID | None:
            return await resolve(call.db, call.book.id, customer_id, email, phone)

        assert await who(None, None, None) is None
        assert await who(unknown, None, None) == unknown
        for filters in ((email, None), (None, phone), (email, phone)):
            assert await who(None, *filters) == ada, filters
        for filters in (
            ("bola@example.com", phone),
            ("nobody@example.com", phone),
            ("nobody@example.com", None),
            ("live@example.com", None),
            (None, "12"),
            ("", None),
        ):
            assert await who(None, *filters) == NO_CUSTOMER, filters
        for filters in ((email, None), (None, phone)):
            with pytest.raises(Invalid) as refused:
                await who(ada, *filters)
            assert [d.field for d in refused.value.details or ()] == ["customer_id"]
