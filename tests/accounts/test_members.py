"""People of a business: invited, listed, given another role, removed."""

import asyncio
import secrets
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.api import Api, Response
from tests.conftest import running
from tests.make import PASSWORD, Business, Make
from tests.providers.mail.server import MailServer
from tests.waiting import ended
from tests.webhooks.mailed import mailing_settings
from tillhouse.access.process import Services
from tillhouse.accounts.members import mailing, rules
from tillhouse.app import App
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now

MEMBERS = "/v1/members"
KEYS = "/api/developer/api-keys"
ACCEPT = "/api/auth/accept-invitation"


def fresh() -> str:
    """An address that nobody has."""
    return f"{secrets.token_hex(8)}@example.com"


async def remove(by: Api, member: Business, status: int = 200, **body: Any) -> Response:
    """Remove a member."""
    return await by.request("DELETE", f"{MEMBERS}/{member.user_id}", body, status=status)


async def noted(sql: asyncpg.Connection, business: Business) -> list[str]:
    """The entries of the audit log about members, the oldest first."""
    query = (
        "SELECT event_type FROM audit_events WHERE business_id = $1 "
        "AND event_type LIKE 'member.%' ORDER BY sequence"
    )
    return [row["event_type"] for row in await sql.fetch(query, UUID(business.id))]


async def test_somebody_new_joins_once(business: Business, sql: asyncpg.Connection) -> None:
    """Listed as invited, then as a member who was seen; the token opens nothing again."""
    await business.step_up()
    email = fresh()
    made = await business.owner.post(MEMBERS, {"email": email, "role": "manager"}, status=201)
    (shown,) = [one for one in (await business.owner.get(MEMBERS, status=200)).data
                if one["status"] == "invited"]  # fmt: skip
    assert (shown["email"], shown["role"], shown["lastSeenAt"]) == (email, "manager", None)
    body = {"token": made.data["token"], "password": "six brown bicycles"}
    answer = await business.anybody.post(ACCEPT, body, status=422)
    assert answer.wrong_fields == {"name"}
    nothing = await business.anybody.post(ACCEPT, {**body, "password": "short"}, status=422)
    assert nothing.wrong_fields == {"name", "password"}
    named = {**body, "name": "Bola Ade"}
    short = await business.anybody.post(ACCEPT, {**named, "password": "short"}, status=422)
    assert short.wrong_fields == {"password"}
    both = await asyncio.gather(*(business.anybody.post(ACCEPT, named) for _ in range(2)))
    assert sorted(one.status for one in both)[0] == 201
    assert sorted(one.status for one in both)[1] in (400, 401)
    joined = next(one.data for one in both if one.status == 201)
    me = (await business.anybody.as_bearer(joined["accessToken"]).get("/api/auth/me")).data
    assert (me["businessId"], me["role"], me["name"]) == (business.id, "manager", "Bola Ade")
    listed = (await business.owner.get(MEMBERS, status=200)).data
    assert [(one["role"], one["status"]) for one in listed] == [
        ("owner", "active"), ("manager", "active"),
    ]  # fmt: skip
    assert all(one["lastSeenAt"] for one in listed)
    assert await noted(sql, business) == ["member.invited", "member.added"]


async def test_somebody_with_an_account_joins_by_its_password(
    business: Business, make: Make
) -> None:
    """Another password opens nothing, and the invitation stays."""
    other = await make.business()
    await business.step_up()
    new = {"email": other.email, "role": "admin"}
    token = (await business.owner.post(MEMBERS, new, status=201)).data["token"]
    looked_at = await make.elsewhere().post(f"{ACCEPT}/preview", {"token": token}, status=200)
    assert (looked_at.data["role"], looked_at.data["hasAccount"]) == ("admin", True)
    body = {"token": token, "password": "another phrase"}
    await make.elsewhere().post(ACCEPT, body, status=401)
    joined = await make.elsewhere().post(ACCEPT, {**body, "password": PASSWORD}, status=201)
    assert joined.data["businessId"] == business.id
    await business.owner.post(MEMBERS, new, status=409)


async def test_an_invitation_ends(business: Business, sql: asyncpg.Connection) -> None:
    """By its time, by a newer one to the same address, and never for another token."""
    await business.step_up()
    new = {"email": fresh(), "role": "cashier"}
    old = (await business.owner.post(MEMBERS, new, status=201)).data["token"]
    token = (await business.owner.post(MEMBERS, new, status=201)).data["token"]
    named = {"name": "Bola Ade", "password": "six brown bicycles"}
    forged = f"{token[:-1]}{'0' if token[-1] != '0' else '1'}"
    await sql.execute(
        "UPDATE invitations SET expires_at = now() WHERE business_id = $1", UUID(business.id)
    )
    for wrong in (old, forged, token, "", "thin_"):
        await business.anybody.post(f"{ACCEPT}/preview", {"token": wrong}, status=400)
        await business.anybody.post(ACCEPT, {**named, "token": wrong}, status=400)


async def test_an_invitation_is_taken_back(
    business: Business, make: Make, sql: asyncpg.Connection
) -> None:
    """By its id of the list, by those who may invite to its role; its token opens nothing then."""
    await business.step_up()
    admin = await make.member(business, "admin")
    await admin.step_up()
    new = {"email": fresh(), "role": "owner"}
    made = (await business.owner.post(MEMBERS, new, status=201)).data
    path = f"{MEMBERS}/{made['id']}"
    other = await make.business()
    await other.step_up()
    await other.owner.request("DELETE", path, {}, status=404)
    await admin.owner.request("DELETE", path, {}, status=403)
    gone = await business.owner.request("DELETE", path, {}, status=200)
    assert (gone.data["id"], gone.data["role"]) == (made["id"], None)
    assert gone.json["message"] == "Invitation taken back"
    listed = (await business.owner.get(MEMBERS, status=200)).data
    assert [one["status"] for one in listed] == ["active", "active"]
    named = {"token": made["token"], "name": "Bola Ade", "password": "six brown bicycles"}
    await business.anybody.post(ACCEPT, named, status=400)
    await business.owner.request("DELETE", path, {}, status=404)
    assert await noted(sql, business) == ["member.invited", "member.invitation_revoked"]


async def test_an_invitation_is_taken_or_taken_back(business: Business) -> None:
    """Both at once: one of the two, and never both."""
    await business.step_up()
    for _ in range(4):
        new = {"email": fresh(), "role": "cashier"}
        made = (await business.owner.post(MEMBERS, new, status=201)).data
        named = {"token": made["token"], "name": "Bola Ade", "password": "six brown bicycles"}
        taken, back = await asyncio.gather(
            business.anybody.post(ACCEPT, named),
            business.owner.request("DELETE", f"{MEMBERS}/{made['id']}", {}),
        )
        assert (taken.status, back.status) in ((201, 404), (400, 200))
        listed = (await business.owner.get(MEMBERS, status=200)).data
        of_it = [one["status"] for one in listed if one["email"] == new["email"]]
        assert of_it == (["active"] if taken.status == 201 else [])


@pytest.mark.parametrize("role", ["developer", "manager", "cashier"])
async def test_members_are_for_owners_and_admins(business: Business, make: Make, role: str) -> None:
    """Everybody else is refused; an admin neither makes nor alters an owner."""
    member = await make.member(business, role)
    admin = await make.member(business, "admin")
    path = f"{MEMBERS}/{business.user_id}"
    await member.owner.get(MEMBERS, status=403)
    for by in (member.owner, admin.owner):
        await by.post(MEMBERS, {"email": fresh(), "role": "owner"}, status=403)
        await by.patch(path, {"role": "cashier"}, status=403)
        await remove(by, business, status=403)
        await by.post(f"{path}/end-sessions", status=403)
    await admin.owner.patch(f"{MEMBERS}/{member.user_id}", {"role": "owner"}, status=403)
    await admin.owner.patch(f"{MEMBERS}/{member.user_id}", {"role": "kitchen"}, status=200)


async def test_a_lowered_member_is_out_at_once(
    business: Business, make: Make, sql: asyncpg.Connection
) -> None:
    """Sessions and refresh tokens end; keys are named, and revoked in the same call."""
    await business.step_up()
    member = await make.member(business, "admin")
    body = {"name": "Theirs", "environment": "test", "scopes": ["orders:read"]}
    key = (await member.owner.post(KEYS, body, status=201)).data
    path = f"{MEMBERS}/{member.user_id}"
    raised = (await business.owner.patch(path, {"role": "owner"}, status=200)).data
    assert (raised["endedSessions"], raised["keys"]) == (0, [])
    lowered = (await business.owner.patch(path, {"role": "developer"}, status=200)).data
    assert lowered["endedSessions"] == 1
    assert [(one["id"], one["isRevoked"]) for one in lowered["keys"]] == [(key["id"], False)]
    await member.owner.get("/api/auth/me", status=401)
    refresh = {"refresh_token": member.tokens["refreshToken"]}
    await business.anybody.post("/api/auth/refresh", refresh, status=401)
    client = business.anybody.as_bearer(key["secret"])
    await client.get("/v1/orders", status=200)
    removed = (await remove(business.owner, member, revoke_keys=True)).data
    assert (removed["role"], [one["isRevoked"] for one in removed["keys"]]) == (None, [True])
    await client.get("/v1/orders", status=401)
    await remove(business.owner, member, status=404)
    assert await noted(sql, business) == [
        "member.role_changed", "member.role_changed", "member.removed",
    ]  # fmt: skip


async def test_the_last_owner_stays(
    business: Business, make: Make, sql: asyncpg.Connection
) -> None:
    """Also when two owners demote, or remove, each other at once."""
    await business.step_up()
    path = f"{MEMBERS}/{business.user_id}"
    await business.owner.patch(path, {"role": "admin"}, status=409)
    await remove(business.owner, business, status=409)
    for _ in range(5):
        other = await make.member(business, "owner")
        answers = await asyncio.gather(
            business.owner.patch(f"{MEMBERS}/{other.user_id}", {"role": "admin"}),
            remove_or_none(other.owner, business),
        )
        assert sorted(one.status for one in answers)[0] == 200
        owners = "SELECT count(*) FROM members WHERE business_id = $1 AND role = 'owner'"
        assert await sql.fetchval(owners, UUID(business.id)) == 1
        if answers[0].status != 200:
            return
        await remove(business.owner, other)


async def remove_or_none(by: Api, member: Business) -> Response:
    """Try to remove a member."""
    return await by.request("DELETE", f"{MEMBERS}/{member.user_id}", {})


async def test_a_step_up_comes_first(business: Business, make: Make) -> None:
    """A session that was left open invites, alters and removes nobody, but ends sessions."""
    member = await make.member(business, "cashier")
    path = f"{MEMBERS}/{member.user_id}"
    for answer in (
        await business.owner.post(MEMBERS, {"email": fresh(), "role": "admin"}, status=403),
        await business.owner.patch(path, {"role": "admin"}, status=403),
        await remove(business.owner, member, status=403),
    ):
        assert answer.error == "password_verification_required"
    ended_now = (await business.owner.post(f"{path}/end-sessions", status=200)).data
    assert ended_now == {"endedSessions": 1}
    await member.owner.get("/api/auth/me", status=401)


async def test_an_invitation_is_mailed(services: Services, business: Business) -> None:
    """With the token that the answer told."""
    await business.step_up()
    new = {"email": fresh(), "role": "cashier"}
    token = (await business.owner.post(MEMBERS, new, status=201)).data["token"]
    server = await MailServer().start()
    settings = mailing_settings(services.settings, server.address())
    kind = mailing.kind(msgspec.structs.replace(services, settings=settings))
    await ended(JobRunner(services.pool, (kind,), services.job_results).run_due(now()))
    (mail,) = [one for one in server.mails if one.recipient == new["email"]]
    assert token in mail.text
    await server.stop()


async def test_mails_of_invitations_are_bounded(
    business: Business, make: Make, app: App, database_url: str, master_key: str
) -> None:
    """However often they are taken back; another business's are its own."""
    server = await MailServer().start()
    settings = mailing_settings(app.services.settings, server.address())
    other = await make.business()
    async with running(settings, database_url, master_key) as mailing_app:
        for one in (business, other):
            await one.step_up()
        owner, stranger = (
            Api(mailing_app).as_bearer(one.tokens["accessToken"]) for one in (business, other)
        )
        for _ in range(rules.MAILS_A_DAY.burst):
            made = await owner.post(MEMBERS, {"email": fresh(), "role": "cashier"}, status=201)
            await owner.request("DELETE", f"{MEMBERS}/{made.data['id']}", {}, status=200)
        new = {"email": fresh(), "role": "cashier"}
        refused = await owner.post(MEMBERS, new, status=429)
        assert "half an hour" in refused.json["message"]
        assert 0 < int(refused.headers["retry-after"]) <= 1728
        await stranger.post(MEMBERS, new, status=201)
    await business.owner.post(MEMBERS, new, status=201)
    await server.stop()


async def test_people_are_listed_by_pages(business: Business, make: Make) -> None:
    """Members in the order in which they joined, then those who are invited; none is left out."""
    await business.step_up()
    members = [await make.member(business, "cashier") for _ in range(3)]
    invited = [fresh() for _ in range(3)]
    for email in invited:
        await business.owner.post(MEMBERS, {"email": email, "role": "kitchen"}, status=201)
    found: list[Any] = []
    for page in (1, 2, 3, 4):
        answer = await business.owner.get(f"{MEMBERS}?page={page}&limit=2", status=200)
        found += answer.data
        told = answer.json["meta"]
        assert (told["total"], told["totalPages"], told["hasMore"]) == (7, 4, page < 4)
    assert [one["email"] for one in found] == [
        business.email, *(one.email for one in members), *invited,
    ]  # fmt: skip
    await business.owner.get(f"{MEMBERS}?limit=101", status=422)


async def test_a_session_from_another_business_goes_back_there(
    business: Business, make: Make
) -> None:
    """Removed where it was switched to, it goes on where it was opened, without its step-up."""
    await business.step_up()
    member = await make.member(business, "admin")
    me = (await member.owner.get("/api/auth/me", status=200)).data
    (own,) = [one["id"] for one in me["businesses"] if one["id"] != business.id]
    assert (await remove(business.owner, member)).data["endedSessions"] == 1
    switch = {"business_id": business.id}
    await member.owner.get("/api/auth/me", status=401)
    await member.owner.post("/api/auth/switch", switch, status=401)
    refresh = {"refresh_token": member.tokens["refreshToken"]}
    after = (await member.anybody.post("/api/auth/refresh", refresh, status=200)).data
    assert after["businessId"] == own
    at_home = member.anybody.as_bearer(after["accessToken"])
    assert (await at_home.get("/api/auth/me", status=200)).data["role"] == "owner"
    await at_home.post("/api/auth/switch", switch, status=404)
    key = {"name": "Till", "environment": "test", "scopes": ["orders:read"]}
    unproved = await at_home.post(KEYS, key, status=403)
    assert unproved.error == "password_verification_required"


async def test_a_session_that_was_opened_here_ends(business: Business, make: Make) -> None:
    """One that acts for another business meanwhile goes on there."""
    await business.step_up()
    invited = {"email": fresh(), "role": "cashier"}
    token = (await business.owner.post(MEMBERS, invited, status=201)).data["token"]
    body = {"token": token, "name": "Bola Ade", "password": PASSWORD}
    joined = (await business.anybody.post(ACCEPT, body, status=201)).data
    member = Business(business.anybody, joined, invited["email"])
    other = await make.business()
    await other.step_up()
    token = (await other.owner.post(MEMBERS, invited, status=201)).data["token"]
    second = {"token": token, "password": PASSWORD}
    gone = (await business.anybody.post(ACCEPT, second, status=201)).data
    there = business.anybody.as_bearer(gone["accessToken"])
    assert (await remove(business.owner, member)).data["endedSessions"] == 1
    refresh = {"refresh_token": joined["refreshToken"]}
    await business.anybody.post("/api/auth/refresh", refresh, status=401)
    assert (await there.get("/api/auth/me", status=200)).data["businessId"] == other.id


async def test_ended_sessions_end_wherever_they_were_opened(business: Business, make: Make) -> None:
    """A session that may be in wrong hands isn't turned round: from there it could come again."""
    member = await make.member(business, "cashier")
    path = f"{MEMBERS}/{member.user_id}/end-sessions"
    assert (await business.owner.post(path, status=200)).data == {"endedSessions": 1}
    refresh = {"refresh_token": member.tokens["refreshToken"]}
    await member.anybody.post("/api/auth/refresh", refresh, status=401)


async def test_an_ended_session_does_not_come_back(business: Business, make: Make) -> None:
    """By a switch from the business where it acts meanwhile; a new login does."""
    member = await make.member(business, "cashier")
    home = member.owner
    own = (await home.get("/api/auth/me", status=200)).data["businesses"]
    (there,) = [{"business_id": one["id"]} for one in own if one["id"] != business.id]
    here = {"business_id": business.id}
    token = (await home.post("/api/auth/switch", there, status=200)).data["accessToken"]
    away = member.anybody.as_bearer(token)
    path = f"{MEMBERS}/{member.user_id}/end-sessions"
    assert (await business.owner.post(path, status=200)).data == {"endedSessions": 0}
    refused = await away.post("/api/auth/switch", here, status=401)
    assert "log in again" in refused.json["message"]
    assert (await away.get("/api/auth/me", status=200)).data["businessId"] == there["business_id"]
    again = await logged_in(make, business, member)
    assert (await again.get("/api/auth/me", status=200)).data["businessId"] == business.id


async def test_a_key_that_was_made_is_told_again_without_its_secret(
    business: Business, make: Make
) -> None:
    """To its maker of a lesser role, as the list tells it; to a role without keys nothing."""
    await business.step_up()
    member = await make.member(business, "admin")
    body = {"name": "Wide", "environment": "test", "scopes": ["wallet:read", "payouts:write"]}
    asked = {"idempotency-key": f"key of {member.user_id}"}
    made = (await member.owner.post(KEYS, body, headers=asked, status=201)).data
    assert made["secret"]
    path = f"{MEMBERS}/{member.user_id}"
    await business.owner.patch(path, {"role": "developer"}, status=200)
    again = await logged_in(make, business, member)
    replay = await again.post(KEYS, body, headers=asked, status=201)
    assert (replay.data["id"], replay.data["secret"]) == (made["id"], None)
    assert replay.headers["idempotent-replayed"] == "true"
    assert made["secret"] not in str(replay.json)
    new = {"idempotency-key": f"another of {member.user_id}"}
    await again.post(KEYS, body, headers=new, status=403)
    await business.owner.patch(path, {"role": "cashier"}, status=200)
    lesser = await logged_in(make, business, member)
    await lesser.post(KEYS, body, headers=asked, status=403)


async def logged_in(make: Make, business: Business, member: Business) -> Api:
    """A member in a new session of the business, with the password given again."""
    body = {"email": member.email, "password": PASSWORD}
    token = (await make.elsewhere().post("/api/auth/login", body, status=200)).data["accessToken"]
    choice = {"business_id": business.id}
    token = (await make.anybody.as_bearer(token).post("/api/auth/switch", choice, status=200)).data
    api = make.anybody.as_bearer(token["accessToken"])
    await api.post("/api/auth/verify-password", {"password": PASSWORD}, status=200)
    return api
