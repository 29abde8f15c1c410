"""The life of an API key: created, shown, rotated, viewed, revoked, deleted."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.make import Business
from tests.payouts.wallets import book_of
from tillhouse.access.process import Services
from tillhouse.access.store.usage import touch_keys
from tillhouse.kit.clock import iso, now

KEYS = "/api/developer/api-keys"


def without_secret(key: dict[str, Any]) -> dict[str, Any]:
    """A key record as lists show it."""
    return {name: value for name, value in key.items() if name != "secret"}


async def events_of(business: Business, key_id: str) -> list[str]:
    """The types of a key's audit events, the newest first."""
    path = f"/api/developer/events?api_key_id={key_id}"
    return [event["eventType"] for event in (await business.owner.get(path, status=200)).data]


async def works(business: Business, secret: str) -> bool:
    """Whether a secret opens the health check."""
    answer = await business.anybody.as_bearer(secret).get("/v1/voice/health")
    assert answer.status in (200, 401), answer
    return answer.status == 200


async def test_a_new_key_opens_what_its_scopes_say(business: Business) -> None:
    """A test key with voice:read verifies itself."""
    client = await business.client("voice:read")
    health = await client.get("/v1/voice/health", status=200)
    assert health.data["businessId"] == business.id
    assert health.data["environment"] == "test"


@pytest.mark.parametrize("environment", ["test", "live"])
async def test_a_new_key_has_the_whole_record(business: Business, environment: str) -> None:
    """Every field of the decision, in the form that it says."""
    key = await business.key("orders:read", environment=environment, name="  Till 1 ")
    assert re.fullmatch(rf"thpk_{environment}_[0-9A-Za-z]{{12}}", key["publicKey"])
    assert re.fullmatch(rf"thsk_{environment}_[0-9A-Za-z]{{12}}_[0-9A-Za-z]{{49}}", key["secret"])
    assert key["publicKey"][10:] == key["secret"][10:22]
    assert key["secret"].startswith(key["secretPrefix"])
    assert len(key["secretPrefix"]) < len(key["secret"]) // 2
    apps = (await business.owner.get("/api/developer/apps", status=200)).data
    [default] = [a["id"] for a in apps if a["environment"] == environment]
    assert key["developerAppId"] == default
    expected = {
        "businessId": business.id, "name": "Till 1", "environment": environment,
        "scopes": ["orders:read"], "allowedOrigins": [], "allowedIpRanges": [],
        "withdrawalPolicy": None, "status": "active", "lastUsedAt": None, "lastUsedIp": None,
        "expiresAt": None, "revokedAt": None,
    }  # fmt: skip
    assert expected.items() <= key.items()
    assert key["createdAt"] == key["updatedAt"]


async def test_secrets_are_told_by_create_rotate_and_view_alone(business: Business) -> None:
    """Everything else answers with the record without it."""
    key = await business.key()
    path = f"{KEYS}/{key['id']}"
    told = [
        (await business.owner.get(path, status=200)).body,
        (await business.owner.get(KEYS, status=200)).body,
        (await business.owner.patch(path, {"name": "Other"}, status=200)).body,
        (await business.owner.get("/api/developer/events", status=200)).body,
        (await business.owner.post(f"{path}/revoke", status=200)).body,
        (await business.owner.delete(path, status=200)).body,
    ]
    part = key["secret"][len(key["secretPrefix"]) :].encode()
    assert not [body for body in told if part in body or b'"secret":' in body]


async def test_one_key_reads_as_in_the_list(business: Business) -> None:
    """Newest first, the whole record, without the secret."""
    keys = [without_secret(await business.key(name=f"key {n}")) for n in range(3)]
    listed = (await business.owner.get(KEYS, status=200)).data
    assert listed == keys[::-1]
    assert (await business.owner.get(f"{KEYS}/{keys[0]['id']}", status=200)).data == keys[0]


async def test_keys_are_listed_by_app(business: Business) -> None:
    """One app's keys, those of no app, and nothing of another business's app."""
    body = {"name": "Shop", "environment": "live"}
    app = (await business.owner.post("/api/developer/apps", body, status=201)).data
    key = await business.key(environment="live", developer_app_id=app["id"])
    await business.key()
    assert key["developerAppId"] == app["id"]
    for app_id, ids in ((app["id"], [key["id"]]), (str(uuid4()), [])):
        listed = await business.owner.get(f"{KEYS}?developer_app_id={app_id}", status=200)
        assert [k["id"] for k in listed.data] == ids


async def test_viewing_tells_the_secret_that_was_created(business: Business) -> None:
    """Also after a rotation, then the new one; each view is noted."""
    key = await business.key()
    path = f"{KEYS}/{key['id']}"
    assert (await business.owner.post(f"{path}/view-secret", status=200)).data == {
        "id": key["id"],
        "secret": key["secret"],
    }
    new = (await business.owner.post(f"{path}/rotate", status=200)).data["secret"]
    viewed = (await business.owner.post(f"{path}/view-secret", status=200)).data
    assert viewed["secret"] == new != key["secret"]
    assert (await events_of(business, key["id"])).count("api_key.secret_viewed") == 2


async def test_rotating_keeps_the_public_key_and_ends_the_old_secret(business: Business) -> None:
    """Nothing but the secret changes, and the old one is refused at once."""
    old = await business.key("voice:read", name="Till")
    new = (await business.owner.post(f"{KEYS}/{old['id']}/rotate", status=200)).data
    changed = {name for name in old if old[name] != new[name]}
    assert changed - {"updatedAt"} == {"secret", "secretPrefix"}
    assert not await works(business, old["secret"])
    assert await works(business, new["secret"])
    assert (await events_of(business, old["id"]))[0] == "api_key.rotated"


async def test_revoking_ends_a_key_at_once_and_for_good(business: Business) -> None:
    """No update, rotation or view any more: 400 request_failed."""
    key = await business.key()
    path = f"{KEYS}/{key['id']}"
    revoked = (await business.owner.post(f"{path}/revoke", status=200)).data
    assert revoked["status"] == "revoked"
    assert revoked["revokedAt"] is not None
    assert not await works(business, key["secret"])
    for method, end, body in (
        ("PATCH", "", {"name": "Other"}),
        ("POST", "/rotate", None),
        ("POST", "/view-secret", None),
    ):
        answer = await business.owner.request(method, path + end, body, status=400)
        assert answer.error == "request_failed"
    assert (await business.owner.get(path, status=200)).data == revoked


async def test_revoking_twice_is_revoking_once(business: Business) -> None:
    """200 both times, one moment, one audit event."""
    key = await business.key()
    path = f"{KEYS}/{key['id']}/revoke"
    first = (await business.owner.post(path, status=200)).data
    assert (await business.owner.post(path, status=200)).data == first
    assert (await events_of(business, key["id"])).count("api_key.revoked") == 1


async def test_a_deleted_key_is_gone_and_its_history_stays(business: Business) -> None:
    """404 everywhere, 401 for its secret; the audit log still tells of it."""
    key = await business.key()
    await works(business, key["secret"])
    path = f"{KEYS}/{key['id']}"
    deleted = (await business.owner.delete(path, status=200)).data
    assert deleted["id"] == key["id"]
    assert deleted["deletedAt"].endswith("Z")
    assert not await works(business, key["secret"])
    for method, end in (("GET", ""), ("DELETE", ""), ("POST", "/revoke"), ("POST", "/rotate")):
        await business.owner.request(method, path + end, status=404)
    assert (await business.owner.get(KEYS, status=200)).data == []
    assert await events_of(business, key["id"]) == ["api_key.deleted", "api_key.created"]


async def test_a_revoked_key_can_be_deleted(business: Business) -> None:
    """Tidying up is always possible."""
    key = await business.key()
    await business.owner.post(f"{KEYS}/{key['id']}/revoke", status=200)
    await business.owner.delete(f"{KEYS}/{key['id']}", status=200)


async def test_a_key_tells_when_and_from_where_it_was_used(business: Business) -> None:
    """Counted in memory, written in batches, at the latest when usage is read."""
    key = await business.key()
    await works(business, key["secret"])
    await business.owner.get("/api/developer/usage", status=200)
    shown = (await business.owner.get(f"{KEYS}/{key['id']}", status=200)).data
    assert shown["lastUsedIp"] == "127.0.0.1"
    assert shown["lastUsedAt"] >= key["createdAt"]


async def test_of_uses_that_several_processes_write_the_latest_stays(
    business: Business, services: Services
) -> None:
    """Each writes its own batch, and an earlier use may be written later."""
    key = await business.key()
    book = await book_of(services, business)
    at = now()
    for use in ((at, "203.0.113.1"), (at - timedelta(seconds=1), "203.0.113.2")):
        async with services.pool.transaction() as db:
            await touch_keys(db, [((book, UUID(key["id"])), use)])
    shown = (await business.owner.get(f"{KEYS}/{key['id']}", status=200)).data
    assert (shown["lastUsedAt"], shown["lastUsedIp"]) == (iso(at), "203.0.113.1")
