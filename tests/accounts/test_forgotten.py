"""A forgotten password: asked for alike by everybody, set by a link once, and what ends with it."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest

from tests.accounts.mails import FORGOT, RESET, Mails
from tests.api import Response
from tests.conftest import SETTINGS, running
from tests.factor import turn_on
from tests.make import PASSWORD, Business, Make
from tests.providers.mail.server import MailServer
from tests.sweeping import sweep
from tests.webhooks.mailed import mailing_settings
from tillhouse.access.process import Services
from tillhouse.accounts.forgotten import rules
from tillhouse.accounts.forgotten.actions import make_link
from tillhouse.accounts.forgotten.mailing import queue_link
from tillhouse.db.removal import delete_business
from tillhouse.jobs.kinds import INSTALLATION
from tillhouse.kit.clock import now
from tillhouse.providers.mail.jobs import MAILBOX_A_DAY

LOGIN = "/api/auth/login"
NEW = "seven green bicycles"
ROW = "SELECT * FROM password_links WHERE user_id = $1"


@pytest.fixture(scope="module")
async def mails(database_url: str, master_key: str) -> AsyncIterator[Mails]:
    """An application that sends mails, to a server of this process."""
    server = await MailServer().start()
    async with running(mailing_settings(SETTINGS, server.address()), database_url, master_key) as a:
        yield Mails(a, server)
    await server.stop()


@pytest.fixture
async def person(mails: Mails) -> Business:
    """Somebody there."""
    return await mails.make.business()


async def use(make: Make, token: str, new: str = NEW) -> Response:
    """Use a link, from somewhere."""
    return await make.elsewhere().post(RESET, {"token": token, "new_password": new})


async def log_in(business: Business, password: str) -> Response:
    """Log in, where the account logged in before."""
    return await business.anybody.post(LOGIN, {"email": business.email, "password": password})


async def token_by_command(services: Services, email: str) -> str:
    """A link as the operator prints it."""
    async with services.pool.transaction() as db:
        made = await make_link(services, db, email, now())
    assert made is not None
    return made[1]


async def test_a_password_is_set_by_a_mailed_link(mails: Mails, person: Business) -> None:
    """All sessions end, the old password is none, and the person is told by mail."""
    token = await mails.link(person.email)
    answer = await use(mails.make, token)
    assert (answer.status, answer.data["endedSessions"]) == (200, 1)
    assert set(answer.data) == {"changedAt", "endedSessions"}, "it doesn't sign in"
    await person.owner.get("/api/auth/me", status=401)
    refresh = {"refresh_token": person.tokens["refreshToken"]}
    await person.anybody.post("/api/auth/refresh", refresh, status=401)
    assert (await log_in(person, PASSWORD)).status == 401
    tokens = (await log_in(person, NEW)).data
    owner = person.anybody.as_bearer(tokens["accessToken"])
    told = (await owner.get("/api/developer/events", status=200)).data[0]
    assert told["eventType"] == "user.password_reset"
    await mails.work()
    subjects = [one.message["Subject"] for one in mails.to(person.email)]
    assert subjects == ["Set a new password", "Your password was changed"]
    assert token not in mails.to(person.email)[1].text


async def test_payouts_wait_for_the_owner_after_it(mails: Mails, person: Business) -> None:
    """A thief of the mailbox gets no money."""
    assert (await use(mails.make, await mails.link(person.email))).status == 200
    tokens = (await log_in(person, NEW)).data
    owner = person.anybody.as_bearer(tokens["accessToken"])
    headers = {"service-environment": "live"}
    shown = (await owner.get("/v1/wallet/payouts", headers=headers, status=200)).data
    assert (shown["frozen"], shown["reason"]) == (True, "the owner's password was set by a link")


async def test_every_address_is_answered_alike(
    mails: Mails, person: Business, sql: asyncpg.Connection
) -> None:
    """The same body, and the same work before it: a worker looks whether there is an account."""
    nobody = "nobody.at.all@example.com"
    answers = [
        await mails.make.elsewhere().post(FORGOT, {"email": email}, status=200)
        for email in (person.email, nobody)
    ]
    assert answers[0].json == answers[1].json
    query = "SELECT count(*) FROM jobs WHERE kind = 'password_link' AND book_id = $1"
    assert await sql.fetchval(query, INSTALLATION) == 2
    assert await sql.fetchrow(ROW, UUID(person.user_id)) is None
    await mails.work()
    assert len(mails.to(person.email)) == 1
    assert mails.to(nobody) == []
    assert await sql.fetchval(query, INSTALLATION) == 0


async def test_without_a_mail_server_nothing_is_queued(
    business: Business, sql: asyncpg.Connection
) -> None:
    """The answer says that no mail comes, to every address."""
    for email in (business.email, "nobody.here@example.com"):
        answer = await business.anybody.post(FORGOT, {"email": email}, status=200)
        assert answer.data == {"isMailed": False}
    assert not await sql.fetchval("SELECT count(*) FROM jobs WHERE kind = 'password_link'")


async def test_the_database_has_no_token(
    mails: Mails, person: Business, sql: asyncpg.Connection
) -> None:
    """Neither the row nor the job that waits tells one."""
    await mails.make.elsewhere().post(FORGOT, {"email": person.email}, status=200)
    jobs = await sql.fetch("SELECT * FROM jobs WHERE kind = 'password_link'")
    token = await mails.link(person.email)
    row = await sql.fetchrow(ROW, UUID(person.user_id))
    told = repr([dict(one) for one in [*jobs, row]])
    assert row is not None
    assert len(row["token_digest"]) == 32
    assert token not in told
    assert row["token_digest"] != bytes.fromhex(token.removeprefix("thpw_"))


@pytest.mark.parametrize("way", ["used", "newer", "changed", "over", "wrong", "no token"])
async def test_a_void_link_is_refused_in_one_way(
    mails: Mails, person: Business, sql: asyncpg.Connection, way: str
) -> None:
    """By everything that makes it void, and nothing is set by it."""
    token, password = await mails.link(person.email), PASSWORD
    match way:
        case "used":
            assert (await use(mails.make, token)).status == 200
            password = NEW
        case "newer":
            await mails.link(person.email)
        case "changed":
            body = {"current_password": PASSWORD, "new_password": NEW}
            await person.owner.post("/api/auth/change-password", body, status=200)
            password = NEW
        case "over":
            await sql.execute(
                "UPDATE password_links SET expires_at = now() WHERE user_id = $1",
                UUID(person.user_id),
            )
        case "wrong":
            token = token[:-1] + ("0" if token[-1] != "0" else "1")
        case _:
            token = token.upper()
    looked_at = await mails.make.elsewhere().post(f"{RESET}/preview", {"token": token})
    assert (looked_at.status, looked_at.json["message"]) == (400, rules.LinkOver.message)
    refused = await use(mails.make, token, "eight blue bicycles")
    assert (refused.status, refused.json["message"]) == (400, rules.LinkOver.message)
    assert (await log_in(person, password)).status == 200


async def test_a_link_stays_good_when_it_is_looked_at_or_the_password_refused(
    mails: Mails, person: Business
) -> None:
    """By the rules of every new password."""
    token = await mails.link(person.email)
    looked_at = await mails.make.elsewhere().post(f"{RESET}/preview", {"token": token}, status=200)
    assert looked_at.data == {"email": person.email}
    for new in ("short", "password123", person.email):
        refused = await use(mails.make, token, new)
        assert (refused.status, refused.wrong_fields) == (422, {"new_password"})
    assert (await use(mails.make, token)).status == 200


async def test_of_two_uses_at_once_one_wins(mails: Mails, person: Business) -> None:
    """The others read what any used link reads."""
    token = await mails.link(person.email)
    news = [f"{NEW} {number}" for number in range(6)]
    answers = await asyncio.gather(*(use(mails.make, token, new) for new in news))
    statuses = [answer.status for answer in answers]
    assert sorted(statuses) == [200, 400, 400, 400, 400, 400]
    for new, status in zip(news, statuses, strict=True):
        assert (await log_in(person, new)).status == (200 if status == 200 else 401)


async def test_no_session_with_the_old_password_survives(make_guarded: Make) -> None:
    """Of logins that are judged, or opened, while the link is used."""
    business, old = await make_guarded.business(), PASSWORD
    for number in range(5):
        new = f"{NEW} {number}"
        token = await token_by_command(make_guarded.services, business.email)
        logins = [log_in(business, old) for _ in range(6)]
        answer, *others = await asyncio.gather(use(make_guarded, token, new), *logins)
        assert answer.status == 200
        for one in others:
            assert one.status in (200, 401)
            if one.status == 200:
                opened = business.anybody.as_bearer(one.data["accessToken"])
                await opened.get("/api/auth/me", status=401)
        old = new


async def test_the_second_factor_is_asked_for_as_ever(mails: Mails, person: Business) -> None:
    """The mailbox is no factor of both."""
    factor = await turn_on(person)
    assert (await use(mails.make, await mails.link(person.email))).status == 200
    proof = {"email": person.email, "password": NEW}
    refused = await person.anybody.post(LOGIN, proof, status=401)
    assert refused.error == "second_factor_required"
    await person.anybody.post(LOGIN, proof | {"code": factor.next}, status=200)


async def test_it_unlocks_where_it_was_forgotten(mails: Mails, person: Business) -> None:
    """Ten tries lock the network for half an hour; the new password gets in."""
    api, proof = mails.make.elsewhere(), {"email": person.email, "password": "was it this one?"}
    for _ in range(10):
        await api.post(LOGIN, proof, status=401)
    await api.post(LOGIN, proof | {"password": PASSWORD}, status=429)
    body = {"token": await mails.link(person.email), "new_password": NEW}
    await api.post(RESET, body, status=200)
    await api.post(LOGIN, proof | {"password": NEW}, status=200)


async def test_asking_is_bounded_by_address(mails: Mails, person: Business) -> None:
    """With an account or without one; the newest link that was mailed goes on working."""
    most = rules.LINKS_FOR_ADDRESS.burst
    for email in ("nobody.to.ask@example.com", person.email):
        asked = [await mails.make.elsewhere().post(FORGOT, {"email": email})
                 for _ in range(most + 2)]  # fmt: skip
        assert [one.status for one in asked] == [200] * most + [429] * 2
        assert 0 < int(asked[-1].headers["retry-after"]) <= 3600
    await mails.work()
    # A link that is void when its mail is written isn't mailed.
    assert 1 <= len(mails.to(person.email)) <= most
    works = [(await use(mails.make, one.text.partition("/desk/reset/")[2].split()[0])).status
             for one in mails.to(person.email)]  # fmt: skip
    assert works.count(200) == 1


async def test_asking_and_guessing_are_bounded_by_network(mails: Mails, person: Business) -> None:
    """From one network for any addresses, and with any tokens; others aren't held up."""
    api, most = mails.make.elsewhere(), rules.LINKS_FROM_NETWORK.burst
    asked = [(await api.post(FORGOT, {"email": f"nobody{n}@example.com"})).status
             for n in range(most + 1)]  # fmt: skip
    assert asked == [200] * most + [429]
    token = await mails.link(person.email)
    body = {"token": "thpw_" + "0" * 64, "new_password": NEW}
    guesses = [(await api.post(RESET, body)).status for _ in range(rules.WRONG_LINKS.burst + 1)]
    assert guesses == [400] * rules.WRONG_LINKS.burst + [429]
    await api.post(RESET, body | {"token": token}, status=429)
    await api.post(f"{RESET}/preview", {"token": token}, status=429)
    assert (await use(mails.make, token)).status == 200


async def test_a_mail_that_is_left_out_voids_no_link(
    mails: Mails, person: Business, sql: asyncpg.Connection
) -> None:
    """Of too many mails to one box: the link in the last one that came holds."""
    token = await mails.link(person.email)
    before = await sql.fetchrow(ROW, UUID(person.user_id))
    await sql.execute("UPDATE attempt_cells SET full_at = now() + interval '10 days'")
    job = "INSERT INTO jobs (book_id, id, kind, subject_id, payload, due_at, created_at) VALUES "
    payload = f'{{"email":"{person.email}","at":"{now().isoformat()}"}}'.encode()
    await sql.execute(
        job + "($1, gen_random_uuid(), 'password_link', gen_random_uuid(), $2, now(), now())",
        INSTALLATION, payload,
    )  # fmt: skip
    await mails.work()
    await sql.execute("DELETE FROM attempt_cells")
    assert len(mails.to(person.email)) == 1
    assert await sql.fetchrow(ROW, UUID(person.user_id)) == before
    assert (await use(mails.make, token)).status == 200


async def test_a_flood_of_links_keeps_no_notice_back(mails: Mails, person: Business) -> None:
    """Anybody may ask for links: a thief who sets the password can't silence what tells of it."""
    services = mails.app.services
    for _ in range(MAILBOX_A_DAY.burst + 1):
        async with services.pool.transaction() as db:
            await queue_link(db, person.email, now())
        await mails.work()
    subjects = [one.message["Subject"] for one in mails.to(person.email)]
    assert subjects == ["Set a new password"] * MAILBOX_A_DAY.burst, "so many in a day"
    body = {"current_password": PASSWORD, "new_password": NEW}
    await person.owner.post("/api/auth/change-password", body, status=200)
    await mails.work()
    assert mails.to(person.email)[-1].message["Subject"] == "Your password was changed"


async def test_a_mail_that_is_sent_again_has_the_same_link(
    mails: Mails, person: Business, sql: asyncpg.Connection
) -> None:
    """A server that took it and was not heard: the link of the first mail goes on working."""
    mails.server.replies["mail"].append("451 4.3.0 later")
    await mails.make.elsewhere().post(FORGOT, {"email": person.email}, status=200)
    await mails.work()
    first = await sql.fetchrow(ROW, UUID(person.user_id))
    await sql.execute("UPDATE jobs SET due_at = now() WHERE kind = 'password_link'")
    await mails.work()
    assert await sql.fetchrow(ROW, UUID(person.user_id)) == first
    assert first is not None
    facts = rules.LinkFacts(
        digest=first["token_digest"], requested_at=first["requested_at"], is_used=True,
        link_password_at=first["password_changed_at"],
        password_changed_at=first["password_changed_at"],
    )  # fmt: skip
    asked = (first["token_digest"], first["requested_at"], now())
    assert not rules.is_to_be_mailed(facts, *asked), "a used link is not made anew"


async def test_a_link_of_the_operator_wins_over_a_clock_that_is_ahead(
    business: Business, make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """The last one printed is the one that works."""
    first = await token_by_command(services, business.email)
    await sql.execute(
        "UPDATE password_links SET requested_at = now() + interval '1 minute' WHERE user_id = $1",
        UUID(business.user_id),
    )
    second = await token_by_command(services, business.email)
    assert (await use(make, first)).status == 400
    assert (await use(make, second)).status == 200


async def test_links_go_with_time_and_with_the_account(
    business: Business, make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """A chore forgets those that are over; the deletion of a business takes its people's along."""
    other = await make.business()
    for one in (business, other):
        await token_by_command(services, one.email)
    await sql.execute(
        "UPDATE password_links SET expires_at = now() - interval '1 second' WHERE user_id = $1",
        UUID(business.user_id),
    )
    await sweep(services, "logins")
    assert await sql.fetchrow(ROW, UUID(business.user_id)) is None
    assert await sql.fetchrow(ROW, UUID(other.user_id)) is not None
    await delete_business(sql, UUID(other.id))
    assert await sql.fetchrow(ROW, UUID(other.user_id)) is None
