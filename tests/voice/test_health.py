"""The health check: what the key is bound to."""

import pytest

from tests.make import Business

HEALTH = "/v1/voice/health"


@pytest.mark.parametrize("environment", ["test", "live"])
async def test_health_tells_what_the_key_is_bound_to(business: Business, environment: str) -> None:
    """Business, environment and key, and nothing else; no code differs between the two."""
    key = await business.key("voice:read", environment=environment)
    answer = await business.anybody.as_bearer(key["secret"]).get(HEALTH, status=200)
    assert answer.data == {
        "businessId": business.id,
        "environment": environment,
        "keyId": key["id"],
    }
    assert answer.json.keys() == {"message", "data"}


async def test_health_needs_voice_read(business: Business) -> None:
    """The scope of calls is another one: 403 forbidden."""
    client = await business.client("voice:calls:read", "voice:calls:create")
    answer = await client.get(HEALTH, status=403)
    assert answer.error == "forbidden"


async def test_health_is_about_a_key(business: Business) -> None:
    """A login has none: 403 that says so."""
    answer = await business.owner.get(HEALTH, status=403)
    assert "API key" in answer.json["message"]


async def test_health_follows_a_rotation(business: Business) -> None:
    """The key stays the same key."""
    key = await business.key("voice:read")
    path = f"/api/developer/api-keys/{key['id']}/rotate"
    new = (await business.owner.post(path, status=200)).data
    answer = await business.anybody.as_bearer(new["secret"]).get(HEALTH, status=200)
    assert answer.data["keyId"] == key["id"]
