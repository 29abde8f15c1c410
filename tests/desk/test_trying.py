"""One call of the API on a page: filled in, sent where it reads, and as a command."""

import html
import json
import re
import shlex
from typing import Any, get_args

import pytest

from tests.desk.browser import Browser, PageParts, named
from tests.desk.conftest import SignsIn
from tests.desk.world import fill
from tests.make import Business, Make
from tillhouse.access.scopes import Role
from tillhouse.app import ROUTES
from tillhouse.desk.rooms import ROOMS

TRY = "/desk/commands/try"


def addressed(method: str, path: str, **values: str) -> str:
    """The address of the page, with the values of its form."""
    given = "".join(f"&{name.replace('_', '.', 1)}={value}" for name, value in values.items())
    return f"{TRY}?method={method}&path={path}{given}"


def body_of(browser: Browser) -> Any:
    """The answer that the page shows."""
    return json.loads(shown_by(browser)[1])


def shown_by(browser: Browser) -> tuple[dict[str, str], str]:
    """The headers that the page shows, and the text of the answer."""
    shown = re.compile(r'role="region"[^>]*>(.*?)</pre>', re.DOTALL)
    found = shown.search(browser.response.body.decode())
    assert found
    head, _, text = html.unescape(found[1]).partition("\n\n")
    return dict(line.split(": ", 1) for line in head.splitlines()), text


def command_of(page: PageParts) -> list[str]:
    """The command, as a shell splits it."""
    [button] = [one for one in named(page, type="button") if one.get("aria-controls") == "curl"]
    return shlex.split((button["data-copy"] or "").replace("\\\n", " "))


def test_every_operation_can_be_tried() -> None:
    """Those of each room: a new one has to be named beside the others."""
    assert {route for room in ROOMS for route in room.routes} == set(ROUTES)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
async def test_the_reference_leads_to_each_operation(route: Any, owner: Browser) -> None:
    """And its page has a field for each name in the path."""
    page = await owner.open(addressed(route.method, route.path))
    assert route.summary in page.words
    fields = {one["name"] for one in named(page, type="text")}
    assert {f"path.{name}" for name in re.findall(r"\{(\w+)\}", route.path)} <= fields
    assert command_of(page)[0] == "curl"


async def test_a_read_is_sent_as_the_person_in_the_test_book(
    owner: Browser, business: Business
) -> None:
    """Also while live is shown; with its status and its body, and refusals just so."""
    world = await fill(business)
    await owner.submit("/desk/mode", mode="live")
    order_id = world.ids["order_id"]
    page = await owner.open(addressed("GET", "/v1/orders/{order_id}"))
    assert "Answer" not in page.words
    sent = addressed("GET", "/v1/orders/{order_id}", path_order_id=order_id, send="yes")
    page = await owner.open(sent)
    assert "Answer 200" in page.words
    assert body_of(owner)["data"]["id"] == order_id
    page = await owner.open(addressed("GET", "/v1/orders", query_limit="none", send="yes"))
    assert "Answer 422" in page.words
    assert body_of(owner)["details"][0]["field"] == "limit"
    page = await owner.open(addressed("GET", "/v1/orders/{order_id}", send="yes"))
    assert "Answer 404" in page.words


async def test_a_table_is_shown_as_it_is(owner: Browser, business: Business) -> None:
    """It isn't JSON."""
    await fill(business)
    page = await owner.open(addressed("GET", "/v1/ledger/accounts", query_format="csv", send="yes"))
    assert "Answer 200" in page.words
    assert "X-Request-Id" in page.words
    assert "account,currency,debits,credits,balance" in page.words


async def test_an_answer_is_shown_with_its_headers(owner: Browser) -> None:
    """Its type, the id of the request, and where the next page of a table is."""
    await owner.open(addressed("GET", "/v1/orders", send="yes"))
    headers, _ = shown_by(owner)
    assert headers.keys() == {"Content-Type", "X-Request-Id"}
    assert headers["Content-Type"].startswith("application/json")
    await owner.open(addressed("GET", "/v1/orders", query_limit="none", send="yes"))
    assert shown_by(owner)[0].keys() == headers.keys()
    await owner.open(addressed("GET", "/v1/ledger/accounts", query_format="csv", send="yes"))
    headers, text = shown_by(owner)
    assert headers["Content-Type"].startswith("text/csv")
    assert text.count(",") > 3
    assert not text.startswith("{")


async def test_a_long_answer_is_bounded(owner: Browser, business: Business) -> None:
    """The page says how much is left out."""
    for _ in range(3):
        await fill(business)
    page = await owner.open(addressed("GET", "/v1/orders", send="yes"))
    assert "more characters are left out" in page.words
    assert len(owner.response.body) < 30_000


async def test_a_write_is_never_sent(owner: Browser, business: Business) -> None:
    """Its command is shown, with the body as it was typed, and nothing more happens."""
    body = """{"name": "Ada's", "x": "$(id) `id`"}"""
    await owner.open(addressed("POST", "/v1/customers", send="yes"))
    page = await owner.submit(TRY, 200, body=body, send="yes")
    words = command_of(page)
    assert "Answer" not in page.words
    assert words[words.index("-d") + 1] == body
    assert words[:4] == ["curl", "-sS", "-X", "POST"]
    assert (await business.owner.get("/v1/customers", status=200)).data == []


async def test_a_typed_body_is_in_no_address(owner: Browser) -> None:
    """It may hold secrets, which the history of a browser and logs would keep."""
    body = '{"access_token":"EAAG-secret"}'
    page = await owner.open(addressed("POST", "/v1/messaging/numbers") + f"&body={body}")
    assert "EAAG-secret" not in page.words
    [form] = [one for one in page.forms if one.action == TRY]
    assert form.method == "post"
    page = await owner.submit(TRY, 200, body=body)
    assert body in command_of(page)
    assert owner.response.headers["cache-control"] == "no-store"
    await owner.open(addressed("POST", "/v1/messaging/numbers"))
    await owner.submit(TRY, 403, body=body, csrf="")


@pytest.mark.parametrize("text", ['" ; rm -rf ~ #', "$(id)", "`id`", "'; id #", "a\\", "../keys"])
async def test_no_value_leaves_the_address_of_its_command(text: str, owner: Browser) -> None:
    """In a shell all of it stays one word, and nothing in it is carried out."""
    typed = text.replace("#", "%23").replace(";", "%3B").replace(" ", "+")
    for path, name in (("/v1/orders/{order_id}", "path_order_id"), ("/v1/orders", "query_search")):
        page = await owner.open(addressed("GET", path, **{name: typed}))
        words = command_of(page)
        assert words[:2] == ["curl", "-sS"]
        assert words[3:] == ["-H", "Authorization: Bearer $KEY"]
        assert not set(words[2]) & set("\"'`$\\ ;")
        assert words[2].startswith("http")


async def test_what_is_no_operation_is_not_there(owner: Browser) -> None:
    """Another address, another method; without any the page says where to begin."""
    await owner.open(addressed("GET", "/v1/nothing"), status=404)
    await owner.open(addressed("PURGE", "/v1/orders"), status=404)
    assert "API reference" in (await owner.open(TRY)).words


@pytest.mark.parametrize("role", get_args(Role))
async def test_it_is_refused_as_the_role_is(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """The right is that of the person: the page opens nothing more."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    for path in ("/v1/finance/summary", "/v1/members", "/v1/orders"):
        test = {"service-environment": "test"}
        status = (await person.owner.get(path, headers=test)).status
        page = await browser.open(addressed("GET", path, send="yes"))
        assert f"Answer {status}" in page.words
