"""Numbers: one active per book, its secrets never told."""

import asyncio

import asyncpg

from tests.make import Business
from tests.messaging.whatsapp_business import NUMBERS, WHATSAPP
from tests.routes.rooms.messaging import active_number

SECRETS = ("access_token", "app_secret", "verify_token")


async def test_a_live_book_connects_its_number(business: Business, sql: asyncpg.Connection) -> None:
    """The answer, the list and the row hold no secret; the log names who did it."""
    api = await business.client("messaging:read", "messaging:write", environment="live")
    answer = await api.post(NUMBERS, WHATSAPP, status=201)
    assert answer.data["provider"] == "whatsapp"
    assert answer.data["phoneNumber"] == WHATSAPP["phone_number"]
    assert answer.data["hookPath"] == f"/hooks/whatsapp/{answer.data['id']}"
    assert (await api.get(NUMBERS, status=200)).data == [answer.data]
    sealed: bytes = await sql.fetchval(
        "SELECT credentials_sealed FROM messaging_numbers WHERE id = $1::text::uuid",
        answer.data["id"],
    )  # pyright: ignore[reportAssignmentType] - there is one
    for name in SECRETS:
        assert WHATSAPP[name] not in answer.body.decode()
        assert WHATSAPP[name].encode() not in sealed
    assert (await (await business.step_up()).owner.get("/api/developer/events")).data[0][
        "eventType"
    ] == "messaging_number.connected"


async def test_a_book_has_one_active_number(business: Business) -> None:
    """Of five at once one is connected; after it is disconnected there may be another."""
    api = await business.client("messaging:read", "messaging:write", environment="live")
    answers = await asyncio.gather(*(api.post(NUMBERS, WHATSAPP) for _ in range(5)))
    assert sorted(answer.status for answer in answers) == [201, 409, 409, 409, 409]
    refused = next(answer for answer in answers if answer.status == 409)
    assert refused.error == "request_failed"
    number_id = await active_number(business, "live")
    for _ in range(2):
        gone = await api.delete(f"{NUMBERS}/{number_id}", status=200)
        assert gone.data["status"] == "disabled"
    await api.post(NUMBERS, WHATSAPP, status=201)
    statuses = [one["status"] for one in (await api.get(NUMBERS, status=200)).data]
    assert statuses == ["active", "disabled"]


async def test_numbers_are_listed_by_the_page(business: Business) -> None:
    """As every list: what it tells of the whole, the active one first, the disabled ones after."""
    api = await business.client("messaging:read", "messaging:write", environment="live")
    made: list[str] = []
    for _ in range(3):
        if made:
            await api.delete(f"{NUMBERS}/{made[-1]}", status=200)
        made.append((await api.post(NUMBERS, WHATSAPP, status=201)).data["id"])
    whole = await api.get(NUMBERS, status=200)
    assert [one["id"] for one in whole.data] == made[::-1]
    meta = {"total": 3, "page": 1, "perPage": 50, "totalPages": 1, "hasMore": False}
    assert whole.json["meta"] == meta
    last = await api.get(f"{NUMBERS}?page=2&limit=2", status=200)
    assert last.data == whole.data[2:]
    assert last.json["meta"] == {**meta, "page": 2, "perPage": 2, "totalPages": 2}
    wrong = await api.get(f"{NUMBERS}?page=0&limit=101", status=422)
    assert wrong.wrong_fields == {"page", "limit"}


async def test_secrets_are_forgotten_with_the_number(
    business: Business, sql: asyncpg.Connection
) -> None:
    """Credentials that are no longer needed are stored nowhere."""
    number_id = await active_number(business, "live")
    live = {"service-environment": "live"}
    await business.owner.delete(f"{NUMBERS}/{number_id}", headers=live, status=200)
    sealed = await sql.fetchval(
        "SELECT credentials_sealed FROM messaging_numbers WHERE id = $1::text::uuid", number_id
    )
    assert sealed is None


async def test_every_wrong_field_is_named_at_once(business: Business) -> None:
    """Missing fields, fields that don't fit, and providers that the environment doesn't have."""
    live = await business.client("messaging:write", environment="live")
    answer = await live.post(NUMBERS, {}, status=422)
    assert answer.wrong_fields == set(WHATSAPP)
    body = {
        **WHATSAPP,
        "provider_number_id": "../me",
        "access_token": "two words",
        "phone_number": "+1",
    }
    answer = await live.post(NUMBERS, body, status=422)
    assert answer.wrong_fields == {"provider_number_id", "access_token", "phone_number"}
    answer = await live.post(NUMBERS, {"provider": "sandbox"}, status=422)
    assert answer.wrong_fields == {"provider"}
    test = await business.client("messaging:write")
    assert "provider" in (await test.post(NUMBERS, WHATSAPP, status=422)).wrong_fields
