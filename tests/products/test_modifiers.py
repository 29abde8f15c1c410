"""Modifier groups: options kept, added and removed, bounds that can be met."""

import asyncio
from uuid import uuid4

import asyncpg
import pytest

from tests.make import Business
from tests.products.catalog import GROUPS, PRODUCTS, Catalog


@pytest.fixture
async def catalog(business: Business, sql: asyncpg.Connection) -> Catalog:
    """The catalog of this test's business."""
    return await Catalog.open(business, sql)


async def test_a_group_shows_its_options_in_their_order(catalog: Catalog) -> None:
    """A price may be taken off as well; the product shows the group as it is."""
    made = await catalog.group(
        {"name": "Plantain", "price_delta": 300.5},
        {"name": "No rice", "price_delta": -200, "is_active": False},
        min_choices=1,
        max_choices=2,
    )
    plantain, no_rice = made["options"]
    assert plantain == {
        "id": plantain["id"], "name": "Plantain", "priceDelta": 300.5, "isActive": True
    }  # fmt: skip
    assert (no_rice["priceDelta"], no_rice["isActive"]) == (-200, False)
    assert (made["minChoices"], made["maxChoices"]) == (1, 2)
    product = await catalog.product(modifier_group_ids=[made["id"]])
    shown = {name: made[name] for name in ("id", "name", "minChoices", "maxChoices", "options")}
    assert product["modifierGroups"] == [shown]
    assert (await catalog.api.get(GROUPS, status=200)).data == [made]


async def test_options_are_kept_added_and_removed_by_their_ids(catalog: Catalog) -> None:
    """An option in the list with its id stays itself, one that is not in it goes."""
    made = await catalog.group({"name": "Egg"}, {"name": "Fish"}, {"name": "Goat"})
    egg, fish, goat = (option["id"] for option in made["options"])
    path = f"{GROUPS}/{made['id']}"
    options = [
        {"id": goat, "name": "Goat", "price_delta": 5},
        {"name": "Beef"},
        {"id": egg, "name": "Two eggs"},
    ]
    changed = (await catalog.api.patch(path, {"options": options}, status=200)).data
    assert [o["name"] for o in changed["options"]] == ["Goat", "Beef", "Two eggs"]
    assert [changed["options"][0]["id"], changed["options"][2]["id"]] == [goat, egg]
    back = {"options": [{"id": fish, "name": "Fish"}]}
    answer = await catalog.api.patch(path, back, status=422)
    assert answer.wrong_fields == {"options[0].id"}
    twice = {"options": [{"id": egg, "name": "A"}, {"id": egg, "name": "B"}]}
    assert (await catalog.api.patch(path, twice, status=422)).wrong_fields == {"options[1].id"}
    same = (await catalog.api.patch(path, {"name": "Extras"}, status=200)).data
    assert same == changed


async def test_an_option_of_another_group_is_none_of_this(catalog: Catalog) -> None:
    """It is neither taken over nor changed."""
    mine, other = await catalog.group(), await catalog.group()
    stolen = {"id": other["options"][0]["id"], "name": "Mine now"}
    body = {"options": [stolen]}
    answer = await catalog.api.patch(f"{GROUPS}/{mine['id']}", body, status=422)
    assert answer.wrong_fields == {"options[0].id"}
    assert (await catalog.api.get(f"{GROUPS}/{other['id']}", status=200)).data == other


async def test_bounds_that_nobody_could_meet_are_refused(catalog: Catalog) -> None:
    """No more is asked for than there is, the most is not below the least, lists have ends."""
    option = {"name": "Egg"}
    for fields, named in (
        ({"min_choices": 2}, {"min_choices"}),
        ({"min_choices": 1, "options": [{**option, "is_active": False}]}, {"min_choices"}),
        ({"min_choices": 2, "max_choices": 1, "options": [option] * 2}, {"max_choices"}),
        ({"max_choices": 0}, {"max_choices"}),
        ({"options": []}, {"options"}),
        ({"options": [option] * 201}, {"options"}),
        ({"name": "", "options": [{**option, "price_delta": 0.001}]},
         {"name", "options[0].price_delta"}),
    ):  # fmt: skip
        body = {"name": "Extras", "options": [option], **fields}
        answer = await catalog.api.post(GROUPS, body, status=422)
        assert answer.wrong_fields == named, fields
    made = await catalog.group(option, option, min_choices=2)
    path = f"{GROUPS}/{made['id']}"
    answer = await catalog.api.patch(path, {"options": [option]}, status=422)
    assert answer.wrong_fields == {"min_choices"}


async def test_a_group_that_products_offer_stays(catalog: Catalog) -> None:
    """Until none does; then no product can take it again."""
    made = await catalog.group()
    path = f"{GROUPS}/{made['id']}"
    product = await catalog.product(modifier_group_ids=[made["id"]])
    assert "Jollof rice" in (await catalog.api.delete(path, status=409)).json["message"]
    await catalog.change(product["id"], modifier_group_ids=[])
    await catalog.api.delete(path, status=200)
    await catalog.api.get(path, status=404)
    wrong = await catalog.refused(modifier_group_ids=[made["id"], str(uuid4())])
    assert wrong == {"modifier_group_ids[0]", "modifier_group_ids[1]"}


async def test_a_deleted_product_holds_no_group(catalog: Catalog) -> None:
    """Nobody can buy it any more, so that it offers nothing."""
    made = await catalog.group()
    path = f"{GROUPS}/{made['id']}"
    product = await catalog.product(modifier_group_ids=[made["id"]])
    await catalog.api.delete(path, status=409)
    await catalog.api.delete(f"{PRODUCTS}/{product['id']}", status=200)
    await catalog.api.delete(path, status=200)
    assert (await catalog.api.get(GROUPS, status=200)).data == []


async def test_no_product_offers_a_deleted_group(catalog: Catalog) -> None:
    """Products take a group while it goes: it goes without them, or it stays."""
    for _ in range(5):
        group_id = (await catalog.group())["id"]
        body = {"name": "Rice", "base_price": 1, "modifier_group_ids": [group_id]}
        gone, *made = await asyncio.gather(
            catalog.api.delete(f"{GROUPS}/{group_id}"),
            *(catalog.api.post(PRODUCTS, body) for _ in range(4)),
        )
        assert not (gone.status == 200 and any(answer.status == 201 for answer in made))
