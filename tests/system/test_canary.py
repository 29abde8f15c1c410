"""No secret shows where it must not, however talkative the log is."""

import json
import secrets
from pathlib import Path
from urllib.parse import quote

import aiohttp
import asyncpg

from tests.api import Response
from tests.make import PASSWORD
from tests.system.client import Client, register
from tests.system.conftest import Start

KEYS = "/api/developer/api-keys"


class Canary:
    """Remembers every secret and every answer, and which answer was meant to tell which secret."""

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}
        self.answers: list[tuple[Response, set[str]]] = []

    def note(self, answer: Response, **told: str) -> Response:
        """Keep an answer with the secrets that it is there to tell."""
        self.secrets.update(told)
        self.answers.append((answer, set(told.values())))
        return answer

    def leaks(self) -> list[tuple[str, Response]]:
        """Secrets in answers that were not meant to tell them."""
        return [
            (name, answer)
            for answer, told in self.answers
            for name, secret in self.secrets.items()
            if secret not in told
            and (secret.encode() in answer.body or secret in json.dumps(answer.headers))
        ]

    def found_in(self, text: str) -> set[str]:
        """The names of the secrets that a text holds."""
        return {name for name, secret in self.secrets.items() if secret in text}


async def test_no_secret_is_told(
    start: Start,
    session: aiohttp.ClientSession,
    database_url: str,
    master_key: str,
    tmp_path: Path,
    sql: asyncpg.Connection,
) -> None:
    """Keys, passwords, tokens and the master key: not in logs, audit, metrics or other answers."""
    key_file = tmp_path / "key"
    key_file.write_text(master_key)
    settings = {"DATABASE_URL": database_url, "LOG_LEVEL": "debug"}
    serving = await start(MASTER_KEY_FILE=str(key_file), **settings)
    canary = Canary()
    canary.secrets = {"master": master_key.partition(":")[2], "password": PASSWORD}
    anybody = Client(session, serving.address)
    business = await register(anybody)
    canary.secrets["access"] = business.tokens["accessToken"]
    canary.secrets["refresh"] = business.tokens["refreshToken"]
    await sing_keys(canary, anybody, business.owner)
    await sing_logins(canary, anybody, business.email, business.tokens["refreshToken"])
    await sing_wrongly(canary, anybody, business.owner)
    canary.note(await anybody.get("/metrics", status=200))
    assert await serving.stop() == 0
    output = serving.log + json.dumps(serving.ready)
    assert '"event":"request"' in output
    assert canary.found_in(output) == set()
    query = "SELECT e::text FROM audit_events e WHERE business_id = $1"
    events = "\n".join(row[0] for row in await sql.fetch(query, business.id))
    assert "api_key.rotated" in events
    assert canary.found_in(events) == set()
    query = "SELECT convert_from(answer, 'UTF8') FROM idempotency_keys WHERE answer IS NOT NULL"
    assert canary.found_in("\n".join(row[0] for row in await sql.fetch(query))) == set()
    assert canary.leaks() == []


async def sing_keys(canary: Canary, anybody: Client, owner: Client) -> None:
    """A key from its creation to its end."""
    body = {"name": "canary", "environment": "test", "scopes": ["voice:read"]}
    once = {"idempotency-key": "canary-" + secrets.token_hex(4)}
    made = await owner.post(KEYS, body, headers=once, status=201)
    canary.note(made, key=made.data["secret"])
    canary.note(await owner.post(KEYS, body, headers=once, status=201))
    path = f"{KEYS}/{made.data['id']}"
    for answer in (await owner.get(KEYS), await owner.get(path), await owner.get(KEYS + "?x=1")):
        canary.note(answer)
    user = anybody.as_bearer(made.data["secret"])
    canary.note(await user.get("/v1/voice/health", status=200))
    canary.note(await user.get("/api/auth/me", status=401))
    viewed = await owner.post(f"{path}/view-secret", status=200)
    canary.note(viewed, key=viewed.data["secret"])
    rotated = await owner.post(f"{path}/rotate", headers=once | {"idempotency-key": "r"})
    canary.note(rotated, rotated=rotated.data["secret"])
    canary.note(await owner.post(f"{path}/rotate", headers={"idempotency-key": "r"}, status=200))
    canary.note(await user.get("/v1/voice/health", status=401))
    canary.note(await owner.post(f"{path}/revoke", status=200))
    canary.note(await owner.post(f"{path}/view-secret", status=400))
    canary.note(await owner.get("/api/developer/events", status=200))
    canary.note(await owner.get("/api/developer/usage", status=200))


async def sing_logins(canary: Canary, anybody: Client, email: str, refresh: str) -> None:
    """Logins and refreshes, right and wrong."""
    right = {"email": email, "password": PASSWORD}
    opened = await anybody.post("/api/auth/login", right, status=200)
    canary.note(
        opened, second=opened.data["accessToken"], second_refresh=opened.data["refreshToken"]
    )
    body = {"refresh_token": refresh}
    gone_on = await anybody.post("/api/auth/refresh", body, status=200)
    canary.note(
        gone_on, third=gone_on.data["accessToken"], third_refresh=gone_on.data["refreshToken"]
    )
    canary.note(await anybody.post("/api/auth/login", right | {"x": PASSWORD}, status=422))
    canary.note(await anybody.post("/api/auth/login", {"email": PASSWORD, "password": "x"}))
    canary.note(await anybody.post("/api/auth/register", right | {"email": email}))
    taken = {"name": "Ada", "business_name": "Ada's", **right}
    canary.note(await anybody.post("/api/auth/register", taken, status=422))
    canary.note(await anybody.post("/api/auth/refresh", {"refresh_token": refresh + "x"}))


async def sing_wrongly(canary: Canary, anybody: Client, owner: Client) -> None:
    """Secrets where they don't belong: in paths, queries, headers, fields, broken JSON."""
    for secret in list(canary.secrets.values()):
        plain, quoted = secret.replace(" ", "-"), quote(secret, safe="")
        for answer in (
            await anybody.get(f"/v1/{quoted}"),
            await anybody.get(f"/v1/voice/health?token={quoted}"),
            await owner.get("/api/developer/usage", headers={"x-request-id": plain + "/"}),
            await owner.post(f"/api/developer/apps?token={quoted}", {"name": "x"}),
            await owner.post("/api/developer/apps", {"name": "ab", "environment": secret}),
            await owner.post(KEYS, {"name": "ab", "environment": "test", "scopes": [secret]}),
            await owner.post("/api/developer/apps", raw=secret.encode()),
            await owner.post("/api/developer/apps", raw=b'{"name": "' + secret.encode()),
            await owner.post("/api/developer/apps", {}, headers={"idempotency-key": plain}),
            await anybody.as_bearer(secret + "x").get("/api/auth/me"),
        ):
            assert answer.status < 500, answer
            canary.note(answer)
