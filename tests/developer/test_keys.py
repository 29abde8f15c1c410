"""API keys through the portal."""

from tests.make import Business


async def test_a_new_key_opens_what_its_scopes_say(business: Business) -> None:
    """A test key with voice:read verifies itself."""
    client = await business.client("voice:read")
    health = await client.get("/v1/voice/health", status=200)
    assert health.data["businessId"] == business.id
    assert health.data["environment"] == "test"
