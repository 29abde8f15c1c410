"""Every command, once, as a process."""

import json
import re
import stat
from uuid import uuid4

import asyncpg

import tillhouse
from tests.api import Api
from tests.cli.command import Command
from tests.conftest import SETTINGS, running
from tests.webhooks.shop import until
from tillhouse.db.embedded import Embedded

PASSWORD = "another horse battery"
_BUSY = """
    SELECT count(*) AS busy FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'tillhouse%'
"""


async def fetch(embedded: Embedded, sql: str, *args: object) -> list[asyncpg.Record]:
    """Rows of the session's database."""
    connection = await asyncpg.connect(embedded.url)
    try:
        return await connection.fetch(sql, *args)
    finally:
        await connection.close()


async def deserted(embedded: Embedded) -> None:
    """Wait until nobody works in the session's database any more.

    The server may still be carrying out, and committing, the last statement of a killed command.
    """

    async def are_gone() -> bool:
        [found] = await fetch(embedded, _BUSY)
        return found["busy"] == 0

    await until(are_gone)


def test_version_and_help(command: Command) -> None:
    """The version is told; without a command there is help, and a wrong one is a usage error."""
    assert command.run("--version").stdout == f"tillhouse {tillhouse.__version__}\n"
    assert "serve" in command.run("--help").stdout
    assert "No such command" in command.refusal("sell", code=2)


def test_migrate(command: Command) -> None:
    """A database up to date needs nothing."""
    assert command.json("migrate", "--plan") == {"pending": []}
    assert command.run("migrate").stdout == "The schema is up to date.\n"


def test_master_key_is_private(command: Command, business: str) -> None:
    """The master key is its owner's alone."""
    assert business
    mode = (command.data / "master.key").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_businesses(command: Command, business: str) -> None:
    """A business made is listed, once."""
    found = [b for b in command.json("business", "list")["businesses"] if b["id"] == business]
    assert [(b["name"], b["type"], b["currency"]) for b in found] == [("Ada's", "hotel", "NGN")]
    again = ["business", "create", "--name", "Bo's", "--owner-name", "Bo", "--password-stdin"]
    said = command.refusal(*again, "--email", "ada@example.com", pipe=f"{PASSWORD}\n")
    assert "registered already" in said
    short = command.refusal(*again, "--email", "bo@example.com", pipe="short\n", code=2)
    assert "at least 10 characters" in short


async def test_subscription(command: Command, business: str, embedded: Embedded) -> None:
    """A subscription is set, and the audit log tells of it."""
    args = ["business", "subscription", business, "--status", "trial", "--trial-ends", "2031-02-03"]
    made = command.json(*args, "--no-api-access")
    assert made["trialEndsAt"] == "2031-02-03T23:59:59.999Z"
    assert made["apiAccess"] is False
    query = "SELECT metadata FROM audit_events WHERE event_type = $1 AND business_id = $2"
    events = await fetch(embedded, query, "business.subscription_changed", business)
    assert json.loads(events[-1]["metadata"])["status"] == "trial"
    show = ["business", "subscription", business]
    assert command.json(*show) == made
    assert len(await fetch(embedded, query, "business.subscription_changed", business)) == 1
    assert command.json(*show, "--trial-ends", "2031-03-03")["status"] == "trial"
    assert "--trial-ends" in command.refusal(*show, "--status", "trial", code=2)
    assert "--status" in command.refusal(*show, "--no-api-access", code=2)
    assert command.json(*show, "--status", "active")["apiAccess"] is True
    for more in ([], ["--status", "active"]):
        nobody = command.refusal("business", "subscription", str(uuid4()), *more)
        assert "see `tillhouse business list`" in nobody


async def test_trade(command: Command, business: str, embedded: Embedded) -> None:
    """How a business trades is set piece by piece, and the audit log tells of it."""
    first = command.json("business", "trade", business, "--tax-inclusive", "--no-restock")
    assert (first["taxInclusive"], first["restocksCancelled"]) == (True, False)
    second = command.json("business", "trade", business, "--stock-policy", "allow")
    assert second == {**first, "stockPolicy": "allow"}
    query = "SELECT metadata FROM audit_events WHERE event_type = $1 AND business_id = $2"
    events = await fetch(embedded, query, "business.changed", business)
    told = [json.loads(event["metadata"])["fields"] for event in events]
    assert told == [["tax_inclusive", "restocks_cancelled"], ["stock_policy"]]
    again = command.json("business", "trade", business, "--stock-policy", "allow")
    assert again == second, "which changes nothing, and is no event"
    assert len(await fetch(embedded, query, "business.changed", business)) == 2
    nobody = command.refusal("business", "trade", str(uuid4()), "--tax-exclusive")
    assert "There is no business" in nobody


async def test_users(command: Command, business: str, embedded: Embedded) -> None:
    """A person is added, gets another role and another password; a business keeps an owner."""
    bea = "bea@example.com"
    new = ["user", "add", business, bea, "--role", "cashier", "--name", "Bea", "--password-stdin"]
    made = command.json(*new, pipe=f"{PASSWORD}\n")
    assert made["role"] == "cashier"
    assert "registered already" in command.refusal(*new, pipe=f"{PASSWORD}\n")
    assert command.json("user", "role", business, bea, "--role", "manager")["role"] == "manager"
    roles = {u["email"]: u["role"] for u in command.json("user", "list", business)["users"]}
    assert roles == {"ada@example.com": "owner", bea: "manager"}
    owner = command.refusal("user", "role", business, "ada@example.com", "--role", "cashier")
    assert "needs an owner" in owner
    command.run("user", "password", bea, "--password-stdin", pipe=f"{PASSWORD}!\n")
    assert not command.json("user", "second-factor-off", bea)["wasOn"]
    assert "Nobody" in command.refusal("user", "second-factor-off", "nobody@example.com")
    query = "SELECT event_type, actor_name FROM audit_events WHERE business_id = $1"
    events = {tuple(row) for row in await fetch(embedded, query, business)}
    told = {"member.added", "member.role_changed", "user.password_changed", "business.registered"}
    assert {(event, "command line") for event in told} <= events


async def test_a_lost_factor_is_turned_off(
    command: Command, business: str, embedded: Embedded
) -> None:
    """Of the person that is named, once; the audit log of the business tells of it."""
    query = """
        INSERT INTO second_factors (user_id, sealed_secret, begun_at, confirmed_at)
        SELECT user_id, '', now(), now() FROM members WHERE business_id = $1 AND role = 'owner'
        RETURNING user_id
    """
    (row,) = await fetch(embedded, query, business)
    made = command.json("user", "second-factor-off", "ada@example.com")
    assert made == {"userId": str(row["user_id"]), "wasOn": True}
    left = await fetch(
        embedded, "SELECT user_id FROM second_factors WHERE user_id = $1", made["userId"]
    )
    assert not left
    assert "has none on" in command.run("user", "second-factor-off", "ada@example.com").stdout
    told = "SELECT event_type FROM audit_events WHERE business_id = $1 AND actor_name = $2"
    events = [one["event_type"] for one in await fetch(embedded, told, business, "command line")]
    assert events.count("user.second_factor_off") == 1


async def test_a_password_link_is_printed(
    command: Command, business: str, embedded: Embedded
) -> None:
    """By the public address, for somebody who is registered; a newer one replaces it."""
    made = [command.json("user", "password-link", "ada@example.com") for _ in range(2)]
    urls = [re.fullmatch(r"http://[^/]+/desk/reset/thpw_[0-9a-f]{64}", one["url"]) for one in made]
    assert all(urls)
    assert made[0]["url"] != made[1]["url"]
    assert made[0]["userId"] == made[1]["userId"]
    query = """
        SELECT iso(l.expires_at) AS expires_at FROM password_links l
        JOIN members m ON m.user_id = l.user_id WHERE m.business_id = $1
    """
    assert [one["expires_at"] for one in await fetch(embedded, query, business)] == [
        made[1]["expiresAt"]
    ]
    shown = command.run("user", "password-link", "ada@example.com").stdout
    assert "/desk/reset/thpw_" in shown.splitlines()[1]
    assert "Nobody" in command.refusal("user", "password-link", "nobody@example.com")


async def test_a_lower_role_ends_sessions(
    command: Command, business: str, embedded: Embedded
) -> None:
    """A member who logs in as an admin has a session until the role is lowered, not raised."""
    cleo = "cleo@example.com"
    new = ["user", "add", business, cleo, "--role", "manager", "--name", "Cleo"]
    command.run(*new, "--password-stdin", pipe=f"{PASSWORD}\n")
    key = (command.data / "master.key").read_text()
    async with running(SETTINGS, embedded.url, key) as app:
        answer = await Api(app).post(
            "/api/auth/login", {"email": cleo, "password": PASSWORD}, status=200
        )
        session = Api(app).as_bearer(answer.data["accessToken"])
        raised = command.json("user", "role", business, cleo, "--role", "admin")
        assert raised["endedSessions"] == 0
        await session.get("/api/auth/me", status=200)
        lowered = command.json("user", "role", business, cleo, "--role", "cashier")
        assert lowered["endedSessions"] == 1
        await session.get("/api/auth/me", status=401)
        refresh = {"refresh_token": answer.data["refreshToken"]}
        await Api(app).post("/api/auth/refresh", refresh, status=401)


def test_keys(command: Command) -> None:
    """A key is listed without its secret, and revoked once and for all."""
    made = command.json("demo")
    keys = command.json("keys", "list", made["businessId"])["keys"]
    assert {key["environment"] for key in keys} == {"test", "live"}
    assert made["testKey"] not in json.dumps(keys)
    old = next(key for key in keys if key["environment"] == "test" and key["status"] == "active")
    gone = command.json("keys", "revoke", made["businessId"], old["id"])
    assert gone["status"] == "revoked"
    assert "has no API key" in command.refusal("keys", "revoke", made["businessId"], str(uuid4()))
    again = command.json("demo")
    assert again["testKey"] != made["testKey"]
    assert again["liveKey"] == made["liveKey"]


def test_rewrap(command: Command, business: str) -> None:
    """Under a second master key, the first is needed no more."""
    first = (command.data / "master.key").read_text().strip()
    second = "2:" + first.partition(":")[2][::-1].lstrip("=") + "="
    both = Command(command.data, MASTER_KEY=f"{first},{second}")
    done = both.json("keys", "rewrap")
    assert done["masterVersion"] == 2
    assert done["rewrapped"] >= 1
    assert "lacks version 2" in command.refusal("business", "list")
    alone = Command(command.data, MASTER_KEY=second)
    assert business in alone.run("business", "list").stdout
    (command.data / "master.key").write_text(second)


async def test_verify(command: Command, business: str, embedded: Embedded) -> None:
    """Whole chains are told; a changed entry is found."""
    assert "are whole" in command.run("verify").stdout
    forge = "UPDATE audit_events SET title = $2 WHERE business_id = $1 AND sequence = 1"
    trigger = "ALTER TABLE audit_events {} TRIGGER audit_events_append_only"
    await fetch(embedded, trigger.format("DISABLE"))
    first = "SELECT title FROM audit_events WHERE business_id = $1 AND sequence = 1"
    [title] = await fetch(embedded, first, business)
    await fetch(embedded, forge, business, "forged")
    broken = command.json("verify", code=1)["broken"]
    await fetch(embedded, forge, business, title["title"])
    await fetch(embedded, trigger.format("ENABLE"))
    assert broken == [{"businessId": business, "auditSequences": [1]}]


def test_the_master_key_of_a_used_database_is_never_made_anew(
    command: Command, business: str
) -> None:
    """Without its key a database stays closed, and the sentence says which file to put back."""
    assert business
    path = command.data / "master.key"
    kept = path.rename(path.with_name("kept"))
    try:
        assert f"{path} is gone" in command.refusal("business", "list")
        assert not path.exists()
    finally:
        kept.rename(path)
