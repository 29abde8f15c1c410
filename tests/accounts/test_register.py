"""Registering a business: what is made, what is refused."""

import asyncio
import secrets
from typing import Any

import asyncpg
import pytest

from tests.make import PASSWORD, Business, Make

REGISTER = "/api/auth/register"


def account(**fields: Any) -> dict[str, Any]:
    """A good registration, with some fields replaced."""
    email = f"{secrets.token_hex(8)}@example.com"
    body = {"name": "Ada", "email": email, "password": PASSWORD, "business_name": "Ada's"}
    return {**body, **fields}


async def test_registering_opens_both_books_with_a_default_app_each(business: Business) -> None:
    """A test and a live environment, each with the app that takes what is made without one."""
    apps = (await business.owner.get("/api/developer/apps", status=200)).data
    assert {(a["environment"], a["isDefault"], a["businessId"]) for a in apps} == {
        ("test", True, business.id),
        ("live", True, business.id),
    }
    assert len(apps) == 2


async def test_registering_logs_the_owner_in(business: Business) -> None:
    """The answer's token opens the business, for a quarter of an hour."""
    assert business.tokens["expiresIn"] == 900
    assert business.tokens["tokenType"] == "Bearer"
    me = (await business.owner.get("/api/auth/me", status=200)).data
    assert (me["userId"], me["businessId"]) == (business.user_id, business.id)
    assert (me["email"], me["role"]) == (business.email, "owner")
    assert "MANAGE_DEVELOPER_KEYS" in me["permissions"]


async def test_a_new_business_has_a_subscription_with_api_access(business: Business) -> None:
    """It is active and has no end."""
    [own] = (await business.owner.get("/api/auth/me", status=200)).data["businesses"]
    assert own["subscription"] == {"status": "active", "apiAccess": True, "trialEndsAt": None}


async def test_what_is_not_given_has_a_default(business: Business) -> None:
    """Currency, zone, country and type can be left out."""
    [own] = (await business.owner.get("/api/auth/me", status=200)).data["businesses"]
    assert (own["currency"], own["timeZone"], own["country"]) == ("USD", "UTC", "US")
    assert (own["type"], own["role"], own["id"]) == ("retail", "owner", business.id)


async def test_what_is_given_is_kept(make: Make) -> None:
    """Names are trimmed, nothing else is changed."""
    business = await make.business(
        business_name="  Mama Put  ",
        business_type="restaurant",
        currency="NGN",
        time_zone="Africa/Lagos",
        country="NG",
    )
    [own] = (await business.owner.get("/api/auth/me", status=200)).data["businesses"]
    assert own["name"] == "Mama Put"
    assert (own["currency"], own["timeZone"], own["country"]) == ("NGN", "Africa/Lagos", "NG")
    assert own["type"] == "restaurant"


WRONG: list[tuple[str, Any]] = [
    ("name", None),
    ("name", 5),
    ("name", "A"),
    ("name", " A "),
    ("name", "x" * 121),
    ("name", "two\nlines"),
    ("name", "nul\x00"),
    ("name", ["Ada"]),
    ("email", "ada"),
    ("email", "ada@"),
    ("email", "@example.com"),
    ("email", "ada@example"),
    ("email", "a da@example.com"),
    ("email", "ada@example.com\n.evil.com"),
    ("email", "ada@exämple.com"),
    ("email", f"{'a' * 250}@example.com"),
    ("email", None),
    ("password", "short7!"),
    ("password", "x" * 257),
    ("password", "Password123"),
    ("password", "!! dragon 2024"),
    ("password", "Q1W2E3R4T5"),
    ("password", "zzzzzzzzzzzz"),
    ("password", "abababababab"),
    ("password", "0123456789"),
    ("password", "nine char"),
    ("password", 1234567890),
    ("business_name", ""),
    ("business_name", "B"),
    ("business_name", True),
    ("business_type", "bank"),
    ("business_type", None),
    ("currency", "ngn"),
    ("currency", "XXX"),
    ("currency", "NG"),
    ("currency", 566),
    ("time_zone", "Lagos"),
    ("time_zone", "../etc/passwd"),
    ("time_zone", "Factory"),
    ("country", "ng"),
    ("country", "NGA"),
    ("country", 5),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
async def test_a_wrong_field_is_named(make: Make, field: str, value: object) -> None:
    """Each field has its rule, and the refusal names it alone."""
    answer = await make.anybody.post(REGISTER, account(**{field: value}), status=422)
    assert answer.error == "validation_error"
    assert answer.wrong_fields == {field}


async def test_all_wrong_fields_are_named_at_once(make: Make) -> None:
    """Nobody has to send a form eight times to learn eight mistakes."""
    body = {
        "name": "A",
        "email": "ada",
        "password": "short",
        "business_type": "bank",
        "currency": "naira",
        "time_zone": "Lagos",
        "country": "Nigeria",
        "buisness_name": "Ada's",
    }
    answer = await make.anybody.post(REGISTER, body, status=422)
    assert answer.wrong_fields == {*body, "business_name"}
    assert "did you mean business_name?" in answer.body.decode()


async def test_an_address_registers_once(make: Make, business: Business) -> None:
    """In whatever case it is written: 422 that names the field."""
    for email in (business.email, business.email.upper(), f" {business.email} "):
        answer = await make.anybody.post(REGISTER, account(email=email), status=422)
        assert answer.wrong_fields == {"email"}


async def test_a_refused_registration_leaves_nothing(
    make: Make, business: Business, sql: asyncpg.Connection
) -> None:
    """The owner's row and all that came before it are rolled back."""
    name = secrets.token_hex(8)
    body = account(email=business.email, business_name=name)
    await make.anybody.post(REGISTER, body, status=422)
    assert not await sql.fetchval("SELECT count(*) FROM businesses WHERE name = $1", name)


async def test_one_address_at_once_registers_once(make: Make) -> None:
    """Of six at the same moment one wins."""
    body = account()
    answers = await asyncio.gather(*(make.anybody.post(REGISTER, body) for _ in range(6)))
    assert sorted(a.status for a in answers) == [201, 422, 422, 422, 422, 422]


async def test_the_password_is_not_stored_as_it_is(
    make_guarded: Make, sql: asyncpg.Connection
) -> None:
    """argon2id, with at least the cost that OWASP asks for."""
    business = await make_guarded.business()
    stored = await sql.fetchval("SELECT password_hash FROM users WHERE email = $1", business.email)
    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
