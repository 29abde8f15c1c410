"""Secrets at rest: whose master key, which record, and a new master key."""

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest

from tests.access.conftest import started
from tests.conftest import fresh_database
from tests.make import Business, Make
from tillhouse.access.process import Services
from tillhouse.access.vault import Vault, new_master_key, open_vault, parse_master_key
from tillhouse.db.pool import Db, Pool
from tillhouse.developer.actions.keys import SEAL_KIND
from tillhouse.kit.secrets import SealBroken
from tillhouse.settings import SettingError

KEYS = "/api/developer/api-keys"
ONE, TWO = new_master_key(), new_master_key().replace("1:", "2:", 1)


@pytest.fixture
async def own_database(server_url: str) -> AsyncIterator[str]:
    """A migrated database of this test alone: what it does concerns the whole installation."""
    async with fresh_database(server_url, "tillhouse_vault") as url:
        yield url


async def vault_of(url: str, master_key: str) -> Vault:
    """Open a database's vault as a starting process does."""
    pool = await Pool.open(url, size=2)
    try:
        return await open_vault(pool, master_key)
    finally:
        await pool.close()


async def test_a_wrong_master_key_is_refused_with_the_way_out(own_database: str) -> None:
    """At the start, before anything is sealed with it."""
    await vault_of(own_database, ONE)
    with pytest.raises(SettingError, match="is not the key of this database: set the one that"):
        await vault_of(own_database, new_master_key())
    with pytest.raises(SettingError, match="lacks version 1"):
        await vault_of(own_database, TWO)
    await vault_of(own_database, f"{ONE},{TWO}")


MALFORMED = [
    "",
    "x",
    "1:",
    "1:AAAA",
    f"{ONE}x",
    f"{ONE}==",
    f"{ONE},",
    f"{ONE},{ONE}",
    ONE.replace("1:", "0:"),
    ONE.replace("1:", "-1:"),
    ONE.replace("1:", "x:"),
]


@pytest.mark.parametrize("text", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_master_key_is_refused(text: str) -> None:
    """The sentence says what it must look like."""
    with pytest.raises(SettingError, match="TILLHOUSE_MASTER_KEY must be base64 of 32 bytes"):
        parse_master_key(text)


def test_a_bare_master_key_is_version_one() -> None:
    """As `openssl rand -base64 32` prints it."""
    assert parse_master_key(ONE[2:]) == parse_master_key(ONE)


async def test_a_new_master_key_rewraps_everything(own_database: str) -> None:
    """Afterwards the old one is not needed, and no secret has changed."""
    made: list[tuple[Business, dict[str, str]]] = []
    async with started(own_database, ONE) as app:
        for _ in range(3):
            business = await Make(app, app.services).business()
            made.append((business, await business.key("voice:read")))
    pool = await Pool.open(own_database, size=2)
    both = await open_vault(pool, f"{ONE},{TWO}")
    noted: list[UUID] = []

    async def note(_: Db, business_id: UUID) -> None:
        noted.append(business_id)

    assert await both.rewrap(pool, note) == 3
    assert await both.rewrap(pool, note) == 0
    assert {str(business_id) for business_id in noted} == {old.id for old, _ in made}
    await pool.close()
    with pytest.raises(SettingError):
        await vault_of(own_database, ONE)
    async with started(own_database, TWO) as app:
        for old, key in made:
            anybody = Make(app, app.services).anybody
            await anybody.as_bearer(key["secret"]).get("/v1/voice/health", status=200)
            owner = anybody.as_bearer(old.tokens["accessToken"])
            shown = await owner.post(f"{KEYS}/{key['id']}/view-secret", status=200)
            assert shown.data["secret"] == key["secret"]


async def sealed_of(sql: asyncpg.Connection, key_id: str) -> bytes:
    """A key's sealed secret, as it is stored."""
    sealed = await sql.fetchval(
        "SELECT secret_sealed FROM api_keys WHERE id = $1::text::uuid", key_id
    )
    assert isinstance(sealed, bytes)
    return sealed


async def test_a_sealed_secret_opens_for_its_own_record_only(
    make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """Moved to another key, another business or another purpose it doesn't open."""
    mine, theirs = await make.business(), await make.business()
    key, second = await mine.key(), await mine.key()
    foreign = await theirs.key()
    sealed = await sealed_of(sql, key["id"])
    own = (UUID(mine.id), UUID(key["id"]), SEAL_KIND)
    async with services.pool.reading() as db:
        assert await services.vault.open(db, *own, sealed) == key["secret"]
        for place in (
            (UUID(mine.id), UUID(second["id"]), SEAL_KIND),
            (UUID(theirs.id), UUID(key["id"]), SEAL_KIND),
            (UUID(theirs.id), UUID(foreign["id"]), SEAL_KIND),
            (UUID(mine.id), UUID(key["id"]), "webhook secret"),
        ):
            with pytest.raises(SealBroken):
                await services.vault.open(db, *place, sealed)
        altered = sealed[:-1] + bytes([sealed[-1] ^ 1])
        for broken in (b"", sealed[:20], sealed[:-1], altered, sealed + b"\x00"):
            with pytest.raises(SealBroken):
                await services.vault.open(db, *own, broken)


async def test_what_is_stored_tells_no_secret(business: Business, sql: asyncpg.Connection) -> None:
    """Neither as text nor as bytes, in any column of the key's row."""
    key = await business.key()
    row = await sql.fetchval(
        "SELECT api_keys::text FROM api_keys WHERE id = $1::text::uuid", key["id"]
    )
    part = key["secret"][len(key["secretPrefix"]) :]
    assert part not in row
    assert part.encode().hex() not in row


async def test_equal_secrets_are_sealed_differently(services: Services, business: Business) -> None:
    """A fresh nonce each time."""
    place = (UUID(business.id), UUID(business.id), "x")
    async with services.pool.reading() as db:
        boxes = {await services.vault.seal(db, *place, "same") for _ in range(20)}
    assert len(boxes) == 20
