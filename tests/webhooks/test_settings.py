"""Signing secrets: one for each app and environment, told and replaced after a step-up."""

import base64
from typing import Any
from uuid import uuid4

import pytest

from tests.webhooks.shop import PORTAL, SETTINGS, Shop


async def _listed(shop: Shop, query: str = "") -> list[dict[str, Any]]:
    return (await shop.owner.get(f"{SETTINGS}?{query}", status=200)).data


async def test_every_app_has_its_settings(quiet: Shop) -> None:
    """Those of the first apps and of one made later; the secret itself is not among them."""
    app_id = await quiet.app_of("live")
    listed = await _listed(quiet)
    apps = (await quiet.owner.get(f"{PORTAL}/apps", status=200)).data
    assert {(each["developerAppId"], each["environment"]) for each in listed} == {
        (app["id"], app["environment"]) for app in apps
    }
    assert len(listed) == len(apps) == 3
    [one] = await _listed(quiet, f"developer_app_id={app_id}")
    assert one == {
        "developerAppId": app_id, "environment": "live", "secretPrefix": one["secretPrefix"],
        "rotatedAt": None, "rotationStatus": "never_rotated", "createdAt": one["createdAt"],
    }  # fmt: skip
    assert one["secretPrefix"].startswith("whsec_")
    assert len(one["secretPrefix"]) == 12
    assert await _listed(await Shop.open(quiet.app), f"developer_app_id={app_id}") == []


@pytest.mark.parametrize("verb", ["view-secret", "rotate-secret"])
async def test_secrets_are_told_after_a_step_up_alone(quiet: Shop, verb: str) -> None:
    """A login is none."""
    refused = await quiet.owner.post(f"{SETTINGS}/test/{verb}", {}, status=403)
    assert refused.error == "password_verification_required"


async def test_a_secret_is_32_random_bytes_in_standard_base64(quiet: Shop) -> None:
    """Behind whsec_, one for each environment, the same at every view."""
    await quiet.business.step_up()
    told = {
        environment: (
            await quiet.owner.post(f"{SETTINGS}/{environment}/view-secret", {}, status=200)
        ).data
        for environment in ("test", "live")
    }
    assert told["test"]["secret"] == await quiet.secret() != told["live"]["secret"]
    for environment, data in told.items():
        assert len(base64.b64decode(data["secret"].removeprefix("whsec_"), validate=True)) == 32
        assert data["environment"] == environment
        assert data["rotatedAt"] is None


async def test_rotating_replaces_the_secret_at_once(quiet: Shop) -> None:
    """The settings say so; the other environment keeps its own."""
    before = await quiet.secret()
    rotated = (await quiet.owner.post(f"{SETTINGS}/test/rotate-secret", {}, status=200)).data
    assert rotated["secret"] == await quiet.secret() != before
    by_environment = {each["environment"]: each for each in await _listed(quiet)}
    settings = by_environment["test"]
    assert settings["rotationStatus"] == "rotated"
    assert settings["rotatedAt"] == rotated["rotatedAt"] is not None
    assert rotated["secret"].startswith(settings["secretPrefix"])
    assert by_environment["live"]["rotationStatus"] == "never_rotated"
    types = [event["eventType"] for event in await quiet.audit("webhook_secret.rotated")]
    assert types == ["webhook_secret.rotated"]
    [viewed, _] = await quiet.audit("webhook_secret.viewed")
    assert viewed["metadata"]["environment"] == "test"
    assert rotated["secret"] not in str(await quiet.audit("webhook_secret.rotated"))


async def test_a_replayed_rotation_rotates_once_and_tells_no_secret(quiet: Shop) -> None:
    """View-secret tells it."""
    await quiet.business.step_up()
    headers = {"idempotency-key": "rotate-once"}
    path = f"{SETTINGS}/test/rotate-secret"
    first = await quiet.owner.post(path, {}, headers=headers, status=200)
    again = await quiet.owner.post(path, {}, headers=headers, status=200)
    assert again.data == {**first.data, "secret": None}
    assert again.headers["idempotent-replayed"] == "true"
    assert await quiet.secret() == first.data["secret"]


async def test_secrets_of_other_apps_are_not_told(quiet: Shop) -> None:
    """An app of another business or environment is no app here; a third environment is no place."""
    await quiet.business.step_up()
    others = await (await Shop.open(quiet.app)).app_of("test")
    for wrong in (others, await quiet.app_of("live"), str(uuid4())):
        for verb in ("view-secret", "rotate-secret"):
            body = {"developer_app_id": wrong}
            refused = await quiet.owner.post(f"{SETTINGS}/test/{verb}", body, status=422)
            assert refused.wrong_fields == {"developer_app_id"}
    mine = await quiet.app_of("test")
    told = await quiet.owner.post(
        f"{SETTINGS}/test/view-secret", {"developer_app_id": mine}, status=200
    )
    assert told.data["developerAppId"] == mine
    await quiet.owner.post(f"{SETTINGS}/staging/view-secret", {}, status=404)
