"""Tags: by id, slug or name, each name once."""

import asyncio
from uuid import UUID

import pytest

from tests.api import Api
from tests.calls import calling
from tests.make import Business
from tillhouse.access.process import Services
from tillhouse.kit.errors import Invalid
from tillhouse.labels.actions import tag_ids

PATH = "/v1/tags"


@pytest.fixture
async def client(business: Business) -> Api:
    """A key of the test book."""
    return await business.client("orders:read", "orders:write")


async def ids_of(services: Services, business: Business, *tags: str) -> list[str]:
    """The ids of tags, as an order asks for them."""
    async with calling(services, business) as call:
        return [str(tag_id) for tag_id in await tag_ids(call, list(tags))]


async def test_a_tag_has_a_slug_of_its_name(client: Api) -> None:
    """Which follows it; the list is in the order of slugs."""
    tag = (await client.post(PATH, {"name": " Fête d'été "}, status=201)).data
    assert (tag["name"], tag["slug"]) == ("Fête d'été", "fete-d-ete")
    other = (await client.post(PATH, {"name": "Catering"}, status=201)).data
    listed = await client.get(PATH, status=200)
    assert listed.data == [other, tag]
    assert listed.json["meta"]["total"] == 2
    path = f"{PATH}/{tag['id']}"
    assert (await client.patch(path, {}, status=200)).data == tag
    renamed = (await client.patch(path, {"name": "Summer"}, status=200)).data
    assert (renamed["id"], renamed["slug"]) == (tag["id"], "summer")
    await client.delete(path, status=200)
    assert (await client.get(PATH, status=200)).data == [other]


async def test_one_tag_is_read_by_its_id(client: Api, business: Business) -> None:
    """With the scope of the list; one that was deleted is not found."""
    tag = (await client.post(PATH, {"name": "Catering"}, status=201)).data
    reader = await business.client("orders:read")
    answer = await reader.get(f"{PATH}/{tag['id']}", status=200)
    assert answer.json == {"message": "Tag", "data": tag}
    await client.delete(f"{PATH}/{tag['id']}", status=200)
    await reader.get(f"{PATH}/{tag['id']}", status=404)


async def test_a_name_is_taken_once(client: Api) -> None:
    """In whatever spelling that has the same slug; a name of mere signs is none."""
    await client.post(PATH, {"name": "To go"}, status=201)
    answer = await client.post(PATH, {"name": "TO-GO!"}, status=409)
    assert answer.error == "request_failed"
    other = (await client.post(PATH, {"name": "Other"}, status=201)).data
    await client.patch(f"{PATH}/{other['id']}", {"name": "to go"}, status=409)
    for name in ("!!!", "", "x" * 61, "a\nb", 1):
        answer = await client.post(PATH, {"name": name}, status=422)
        assert answer.wrong_fields == {"name"}


async def test_tags_are_found_by_id_slug_or_name_else_made(
    services: Services, business: Business, client: Api
) -> None:
    """Each once, in the order given, under the name that came first."""
    tag = (await client.post(PATH, {"name": "To go"}, status=201)).data
    found = await ids_of(
        services, business, "New one", tag["id"].upper(), "to-go", "TO GO", "new one"
    )
    assert found[1:] == [tag["id"]]
    listed = {one["name"]: one["id"] for one in (await client.get(PATH, status=200)).data}
    assert listed == {"To go": tag["id"], "New one": found[0]}
    assert await ids_of(services, business, "new-one") == [found[0]]
    assert await ids_of(services, business) == []


async def test_what_is_no_tag_is_named_by_its_place(
    services: Services, business: Business, client: Api
) -> None:
    """And then none is made: not of the other book, not deleted, not of signs."""
    live = await business.made(PATH, {"name": "Live"}, "live")
    gone = (await client.post(PATH, {"name": "Gone"}, status=201)).data["id"]
    await client.delete(f"{PATH}/{gone}", status=200)
    with pytest.raises(Invalid) as refused:
        await ids_of(services, business, "New", live["id"], "!!!", str(UUID(int=7)), gone)
    fields = [detail.field for detail in refused.value.details or ()]
    assert fields == ["tags[1]", "tags[2]", "tags[3]", "tags[4]"]
    assert (await client.get(PATH, status=200)).data == []


async def test_many_at_once_make_each_tag_once(
    services: Services, business: Business, client: Api
) -> None:
    """In opposite orders, without one waiting for another in a circle."""
    names = [f"Tag {number}" for number in range(12)]
    answers = await asyncio.gather(
        *(ids_of(services, business, *(names if n % 2 else reversed(names))) for n in range(30))
    )
    assert {tuple(sorted(ids)) for ids in answers} == {tuple(sorted(answers[0]))}
    listed = (await client.get(PATH, status=200)).data
    assert sorted(tag["id"] for tag in listed) == sorted(answers[0])
    assert {tag["name"] for tag in listed} == set(names)
