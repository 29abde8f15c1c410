"""The list of customers: pages, filters, search."""

from typing import Any
from urllib.parse import quote

import asyncpg
import pytest

from tests.api import Api
from tests.make import Business

PATH = "/v1/customers"


async def made(client: Api, name: str, **fields: Any) -> str:
    """The id of a new customer."""
    return (await client.post(PATH, {"name": name, **fields}, status=201)).data["id"]


async def found(client: Api, query: str) -> list[str]:
    """The names that a query finds."""
    answer = await client.get(f"{PATH}?{query}", status=200)
    assert answer.json["meta"]["total"] == len(answer.data)
    return [customer["name"] for customer in answer.data]


async def test_pages_are_the_newest_first(client: Api) -> None:
    """Each customer is on one page, and the total follows what is made and deleted."""
    ids = [await made(client, f"Guest {number}") for number in range(7)]
    await client.delete(f"{PATH}/{ids.pop(3)}", status=200)
    seen: list[str] = []
    for page in (1, 2, 3):
        answer = await client.get(f"{PATH}?page={page}&limit=2", status=200)
        seen += [customer["id"] for customer in answer.data]
        assert answer.json["meta"] == {
            "total": 6,
            "page": page,
            "perPage": 2,
            "totalPages": 3,
            "hasMore": page < 3,
        }
    assert seen == ids[::-1]
    beyond = await client.get(f"{PATH}?page=1000000", status=200)
    assert beyond.data == []
    assert beyond.json["meta"]["total"] == 6
    matching = await client.get(f"{PATH}?search=guest&limit=4&page=2", status=200)
    assert [customer["id"] for customer in matching.data] == ids[:2][::-1]
    assert matching.json["meta"]["total"] == 6


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("ad", {"Ada Okafor", "Adaeze O'Brien"}),
        ("OKAFOR ada", {"Ada Okafor"}),
        ("brien", {"Adaeze O'Brien"}),
        ("o'b", {"Adaeze O'Brien"}),
        ("john", {"Dr. Àda St.John-Smith (VIP)"}),
        ("smith vip", {"Dr. Àda St.John-Smith (VIP)"}),
        ("àda", {"Dr. Àda St.John-Smith (VIP)"}),
        ("王", {"王小明"}),
        ("table 7", {"Table 7/8"}),
        ("8", {"Table 7/8"}),
        ("kafor", set[str]()),
        ("ada | table", set[str]()),
        ("!!!", set[str]()),
        ("' & \\ :*", set[str]()),
        ("0803 000 0000", {"Ada Okafor"}),
        ("+2348050000000", {"Ada Okafor"}),
        ("0803 000 0001", set[str]()),
        ("ADA@example.com", {"Ada Okafor"}),
        ("ada@example", set[str]()),
    ],
)
async def test_search_finds_words_numbers_and_addresses(
    client: Api, search: str, names: set[str]
) -> None:
    """Each word begins a word of the name; numbers and addresses are whole, in any spelling."""
    await made(
        client,
        "Ada Okafor",
        email="ada@example.com",
        phone_number="08030000000",
        whatsapp_number="08050000000",
    )
    for name in ("Adaeze O'Brien", "Dr. Àda St.John-Smith (VIP)", "王小明", "Table 7/8"):
        await made(client, name)
    assert set(await found(client, f"search={quote(search)}")) == names


async def test_a_renamed_or_deleted_customer_is_found_as_such(client: Api) -> None:
    """The words follow the name, and go with it."""
    customer_id = await made(client, "Ada")
    await client.patch(f"{PATH}/{customer_id}", {"name": "Bola"}, status=200)
    assert await found(client, "search=ada") == []
    assert await found(client, "search=bola") == ["Bola"]
    await client.delete(f"{PATH}/{customer_id}", status=200)
    assert await found(client, "search=bola") == []


async def test_filters_are_exact_and_hold_together(client: Api) -> None:
    """An unknown or impossible value fits nobody; all that is given must fit."""
    await made(client, "Ada", email="ada@example.com", phone_number="08030000000")
    await made(client, "Bola", email="bola@example.com", phone_number="08030000001")
    for query, names in (
        ("email=ADA@example.com", ["Ada"]),
        ("phone=0803%20000%200001", ["Bola"]),
        ("phone=%2B2348030000001", ["Bola"]),
        ("email=ada@example.com&phone=08030000000", ["Ada"]),
        ("email=ada@example.com&phone=08030000001", []),
        ("email=nobody@example.com", []),
        ("email=no%20address", []),
        ("phone=none", []),
        ("phone=", []),
        ("email=", []),
        ("search=bola&email=ada@example.com", []),
        ("search=ad&email=ada@example.com", ["Ada"]),
        ("search=ada@example.com&email=bola@example.com", []),
        ("search=ada@example.com&email=ada@example.com", ["Ada"]),
    ):
        assert await found(client, query) == names, query


async def test_a_search_of_one_book_finds_nothing_of_another(business: Business) -> None:
    """The same words, the same number, in the live book."""
    await business.customer("live", phone_number="08030000000", email="c@example.com")
    client = await business.client("customers:read")
    for query in ("search=chinedu", "search=08030000000", "email=c@example.com", ""):
        assert await found(client, query) == []


async def test_the_tally_is_the_count(client: Api, sql: asyncpg.Connection) -> None:
    """The total of the list is the count of the table, for every book there is."""
    ids = [await made(client, "A") for _ in range(5)]
    await client.delete(f"{PATH}/{ids[0]}", status=200)
    await client.post(PATH, {"name": "A", "email": "wrong"}, status=422)
    assert (await client.get(PATH, status=200)).json["meta"]["total"] == 4
    wrong = await sql.fetch(
        """
        SELECT b.id FROM books b
        WHERE (SELECT count(*) FROM customers WHERE book_id = b.id AND deleted_at IS NULL)
            <> (SELECT coalesce(sum(customers), 0) FROM customer_tallies WHERE book_id = b.id)
        """
    )
    assert wrong == []
