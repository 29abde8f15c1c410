"""A second factor that a role needs: what is open before it is on, and who says so."""

import asyncio
from uuid import UUID

import asyncpg
import pytest

from tests.api import Api
from tests.factor import FACTOR, code, turn_on
from tests.make import PASSWORD, Business, Make
from tillhouse.access.audit import COMMAND_LINE
from tillhouse.access.process import Services
from tillhouse.accounts.second_factor.actions import turn_off_for
from tillhouse.kit.clock import now
from tillhouse.kit.ids import UserId

RULE = "/v1/business/second-factor"
LIVE = {"service-environment": "live"}
# Operations of each surface, which a cashier or an owner has otherwise.
CLOSED = (
    ("GET", "/v1/orders"), ("POST", "/v1/orders"), ("GET", "/v1/business"),
    ("GET", "/api/auth/sessions"), ("POST", "/api/auth/sessions/end-others"),
    ("POST", "/api/auth/change-password"), ("GET", "/v1/members"), ("GET", RULE),
    ("GET", "/api/developer/api-keys"), ("POST", f"{FACTOR}/recovery-codes"), ("DELETE", FACTOR),
)  # fmt: skip


async def require(business: Business, *roles: str) -> None:
    """Say which roles need a factor."""
    await business.step_up()
    await business.owner.request("PUT", RULE, {"roles": list(roles)}, status=200)


async def are_closed(api: Api, *, role: str) -> None:
    """Nothing but what leads to the factor is open."""
    for method, path in CLOSED:
        answer = await api.request(method, path, headers=LIVE)
        assert (answer.status, answer.error) == (403, "second_factor_setup_required"), path
    me = (await api.get("/api/auth/me", status=200)).data
    assert (me["role"], me["needsSecondFactor"]) == (role, True)
    shown = (await api.get(FACTOR, status=200)).data
    assert (shown["isOn"], shown["isRequired"]) == (False, True)


async def test_a_session_that_stands_is_bound_at_its_next_request(
    business: Business, make: Make
) -> None:
    """And is as before once the factor is on; people of other roles go on all the while."""
    cashier, cook = await make.member(business, "cashier"), await make.member(business, "kitchen")
    await cashier.owner.get("/v1/orders", headers=LIVE, status=200)
    await require(business, "cashier")
    await are_closed(cashier.owner, role="cashier")
    await cook.owner.get("/v1/orders", headers=LIVE, status=200)
    await turn_on(cashier)
    await cashier.owner.get("/v1/orders", headers=LIVE, status=200)
    assert not (await cashier.owner.get("/api/auth/me", status=200)).data["needsSecondFactor"]


async def test_turning_it_on_opens_no_session_that_gave_no_code(
    business: Business, make: Make
) -> None:
    """One of a thief of the password waits for it in vain; so does a refresh of it."""
    await require(business, "owner")
    proof = {"email": business.email, "password": PASSWORD}
    thief = (await make.elsewhere().post("/api/auth/login", proof, status=200)).data
    await turn_on(business)
    await business.owner.get("/v1/orders", headers=LIVE, status=200)
    await business.anybody.as_bearer(thief["accessToken"]).get("/api/auth/me", status=401)
    again = {"refresh_token": thief["refreshToken"]}
    await make.elsewhere().post("/api/auth/refresh", again, status=401)


async def test_no_login_under_way_slips_past_it(make_guarded: Make) -> None:
    """Of those whose password is judged while the factor goes on, none without a code stands."""
    business = await make_guarded.business()
    await business.step_up()
    begun = (await business.owner.post(FACTOR, status=201)).data
    proof = {"email": business.email, "password": PASSWORD}
    logins = [make_guarded.elsewhere().post("/api/auth/login", proof) for _ in range(8)]
    first = {"code": code(begun["secret"])}
    confirmed, *opened = await asyncio.gather(
        business.owner.post(f"{FACTOR}/confirm", first), *logins
    )
    assert confirmed.status == 200
    for one in opened:
        assert one.status in (200, 401)
        if one.status == 200:
            api = business.anybody.as_bearer(one.data["accessToken"])
            await api.get("/api/auth/me", status=401)


async def test_a_login_opens_the_way_to_the_factor_alone(business: Business, make: Make) -> None:
    """So does a refresh; logging out is open."""
    await require(business, "owner", "admin")
    proof = {"email": business.email, "password": PASSWORD}
    tokens = (await make.elsewhere().post("/api/auth/login", proof, status=200)).data
    again = {"refresh_token": tokens["refreshToken"]}
    tokens = (await make.elsewhere().post("/api/auth/refresh", again, status=200)).data
    api = business.anybody.as_bearer(tokens["accessToken"])
    await are_closed(api, role="owner")
    await api.post("/api/auth/logout", status=200)


async def test_an_owner_is_not_locked_out(business: Business) -> None:
    """The one who requires it of owners sets it up like everybody else, and may take it back."""
    await require(business, "owner")
    await are_closed(business.owner, role="owner")
    await turn_on(business)
    await require(business)
    await business.owner.delete(FACTOR, status=200)
    await business.owner.get("/v1/members", status=200)


async def test_keys_go_on(business: Business) -> None:
    """They are programs, and have no telephone."""
    client = await business.client("orders:read")
    await require(business, "owner", "developer")
    await client.get("/v1/orders", status=200)


async def test_the_factor_stays_on_as_long_as_a_role_needs_it(
    business: Business, make: Make, services: Services
) -> None:
    """In any of the person's businesses; the operator still turns off one that was lost."""
    person = await make.member(business, "cashier")
    await turn_on(person)
    await require(business, "cashier")
    refused = await person.owner.delete(FACTOR, status=409)
    assert "stays on" in refused.json["message"]
    own = next(one["id"] for one in (await person.owner.get("/api/auth/me")).data["businesses"]
               if one["id"] != business.id)  # fmt: skip
    switched = (await person.owner.post("/api/auth/switch", {"business_id": own}, status=200)).data
    elsewhere = person.anybody.as_bearer(switched["accessToken"])
    await elsewhere.post("/api/auth/verify-password", {"password": PASSWORD}, status=200)
    await elsewhere.delete(FACTOR, status=409)
    whose = UserId(UUID(person.user_id))
    async with services.pool.transaction() as db:
        assert await turn_off_for(db, whose, person.email, COMMAND_LINE, now())
    await elsewhere.get("/v1/members", status=200)
    back = {"business_id": business.id}
    switched = (await elsewhere.post("/api/auth/switch", back, status=200)).data
    await are_closed(person.anybody.as_bearer(switched["accessToken"]), role="cashier")


async def test_a_business_that_needs_none_stays_open(business: Business, make: Make) -> None:
    """A person of two goes to the other one, and back to nothing but the factor."""
    person = await make.member(business, "manager")
    await require(business, "manager")
    me = (await person.owner.get("/api/auth/me", status=200)).data
    other = next(one["id"] for one in me["businesses"] if one["id"] != business.id)
    data = (await person.owner.post("/api/auth/switch", {"business_id": other}, status=200)).data
    await person.anybody.as_bearer(data["accessToken"]).get("/v1/orders", headers=LIVE, status=200)


async def test_only_an_owner_says_so_after_the_password(business: Business, make: Make) -> None:
    """An admin reads it."""
    refused = await business.owner.request("PUT", RULE, {"roles": ["cashier"]}, status=403)
    assert refused.error == "password_verification_required"
    admin, cashier = await make.member(business, "admin"), await make.member(business, "cashier")
    refused = await admin.owner.request("PUT", RULE, {"roles": ["cashier"]}, status=403)
    assert "Only an owner" in refused.json["message"]
    await admin.owner.get(RULE, status=200)
    await cashier.owner.get(RULE, status=403)
    await business.step_up()
    for wrong in ({"roles": ["chef"]}, {"roles": "cashier"}, {}, {"roles": ["owner"] * 21}):
        await business.owner.request("PUT", RULE, wrong, status=422)


async def test_it_is_told_by_role_and_noted(
    business: Business, make: Make, sql: asyncpg.Connection
) -> None:
    """With how many have none yet; what changes nothing is no event."""
    with_one, _ = await make.member(business, "cashier"), await make.member(business, "cashier")
    await turn_on(with_one)
    await with_one.owner.post("/api/auth/logout", status=200)
    for roles in (("cashier", "admin", "cashier"), ("admin", "cashier"), ("admin",)):
        await require(business, *roles)
    found = {one["role"]: one for one in (await business.owner.get(RULE, status=200)).data["roles"]}
    assert list(found)[:2] == ["owner", "admin"]
    assert found["cashier"] == {
        "role": "cashier", "isRequired": False, "members": 2, "membersWithout": 1,
    }  # fmt: skip
    assert found["admin"]["isRequired"]
    query = (
        "SELECT metadata ->> 'roles' AS roles FROM audit_events "
        "WHERE business_id = $1 AND event_type = 'business.second_factor_required' "
        "ORDER BY sequence"
    )
    rows = await sql.fetch(query, UUID(business.id))
    assert [row["roles"] for row in rows] == ['["admin", "cashier"]', '["admin"]']


async def test_of_two_changes_at_once_each_is_noted_after_the_other(
    business: Business, sql: asyncpg.Connection
) -> None:
    """The log tells what was before each."""
    await business.step_up()
    await asyncio.gather(*(
        business.owner.request("PUT", RULE, {"roles": [role]}, status=200)
        for role in ("cashier", "kitchen", "manager", "admin")
    ))  # fmt: skip
    query = (
        "SELECT metadata ->> 'roles' AS roles, metadata ->> 'before' AS before FROM audit_events "
        "WHERE business_id = $1 AND event_type = 'business.second_factor_required' "
        "ORDER BY sequence"
    )
    rows = await sql.fetch(query, UUID(business.id))
    assert [row["before"] for row in rows] == ["[]", *(row["roles"] for row in rows[:-1])]


@pytest.mark.parametrize("role", ["owner", "cashier"])
async def test_a_factor_that_is_only_begun_opens_nothing(
    business: Business, make: Make, role: str
) -> None:
    """Its first code was not given."""
    person = await make.member(business, role)
    await require(business, role)
    await person.owner.post(FACTOR, status=201)
    for path in ("/v1/orders", "/api/auth/sessions"):
        answer = await person.owner.get(path, headers=LIVE, status=403)
        assert answer.error == "second_factor_setup_required"
