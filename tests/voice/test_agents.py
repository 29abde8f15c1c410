"""Agents: made, changed, duplicated, deleted, each with its event."""

from typing import Any

import pytest

from tests.make import Make
from tests.voice.desk import AGENTS, Desk

_EVENTS = ("voice.agent.created", "voice.agent.updated", "voice.agent.deleted")


async def _events(desk: Desk) -> list[dict[str, Any]]:
    api = await desk.business.client("events:read")
    answer = await api.get(f"/v1/events/stream?events={','.join(_EVENTS)}", status=200)
    return answer.data


async def test_an_agent_lives_and_each_change_has_its_event(desk: Desk) -> None:
    """Created, updated, duplicated (which is created) and deleted, in the contract's shape."""
    made = await desk.agent(language="en-NG", tone="warm", max_attempts=3)
    path = f"{AGENTS}/{made['id']}"
    changed = (await desk.api.patch(path, {"name": "Day shift"}, status=200)).data
    assert {**made, "name": "Day shift", "updatedAt": changed["updatedAt"]} == changed
    # Nothing changes, so that nothing is told.
    await desk.api.patch(path, {"name": "Day shift"}, status=200)
    copy = (await desk.api.post(f"{path}/duplicate", status=201)).data
    assert (copy["name"], copy["isDefault"], copy["maxAttempts"]) == ("Day shift (copy)", False, 3)
    await desk.api.delete(path, status=200)
    await desk.api.get(path, status=404)
    await desk.api.patch(path, {"name": "Gone"}, status=404)
    told = [(one["type"], one["data"]["id"], one["data"]["name"]) for one in await _events(desk)]
    assert sorted(told) == sorted(
        [
            ("voice.agent.created", made["id"], "Night shift"),
            ("voice.agent.updated", made["id"], "Day shift"),
            ("voice.agent.created", copy["id"], "Day shift (copy)"),
            ("voice.agent.deleted", made["id"], "Day shift"),
        ]
    )
    data = next(one["data"] for one in await _events(desk) if one["type"].endswith("created"))
    assert data.keys() == {
        "id", "name", "status", "storeId", "language", "tone", "isDefault", "updatedAt",
    }  # fmt: skip


async def test_one_agent_is_the_default(desk: Desk) -> None:
    """A new default takes the place of the old one, and comes first."""
    made = await desk.agent(is_default=True)
    listed = (await desk.api.get(AGENTS, status=200)).data
    assert [(one["id"], one["isDefault"]) for one in listed] == [
        (made["id"], True), (desk.agent_id, False),
    ]  # fmt: skip
    path = f"{AGENTS}/{made['id']}"
    answer = await desk.api.patch(path, {"status": "inactive"}, status=422)
    assert answer.wrong_fields == {"status"}
    both = {"status": "inactive", "is_default": False}
    await desk.api.patch(path, both, status=200)
    answer = await desk.api.patch(path, {"is_default": True}, status=422)
    assert answer.wrong_fields == {"is_default"}
    inactive = await desk.api.get(f"{AGENTS}?status=inactive", status=200)
    assert [one["id"] for one in inactive.data] == [made["id"]]


async def test_a_deleted_agent_is_no_numbers_default(desk: Desk) -> None:
    """Numbers forget it."""
    await desk.api.delete(f"{AGENTS}/{desk.agent_id}", status=200)
    number = (await desk.api.get(f"/v1/voice/numbers/{desk.number_id}", status=200)).data
    assert number["defaultAgentId"] is None


async def test_another_businesss_agent_is_missing(desk: Desk, make: Make) -> None:
    """Read, changed, duplicated or deleted: 404."""
    stranger = await Desk.open(await make.business())
    path = f"{AGENTS}/{stranger.agent_id}"
    await desk.api.get(path, status=404)
    await desk.api.patch(path, {"name": "Mine"}, status=404)
    await desk.api.post(f"{path}/duplicate", status=404)
    await desk.api.delete(path, status=404)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "x"),
        ("language", "english"),
        ("tone", "t" * 41),
        ("script", "sing"),
        ("tools", ["withdraw"]),
        ("disclosure", " "),
        ("max_duration_seconds", 0),
        ("ring_timeout_seconds", 600),
        ("silence_timeout_seconds", "ten"),
        ("max_attempts", 11),
        ("retry_delay_seconds", 1),
        ("recording_enabled", "yes"),
        ("voicemail_action", "sing"),
        ("store_id", "00000000-0000-7000-8000-000000000000"),
    ],
)
async def test_a_wrong_field_is_named(desk: Desk, field: str, value: object) -> None:
    """When an agent is made and when it is changed."""
    answer = await desk.api.post(AGENTS, {"name": "Agent", field: value}, status=422)
    assert {name.partition("[")[0] for name in answer.wrong_fields} == {field}
    answer = await desk.api.patch(f"{AGENTS}/{desk.agent_id}", {field: value}, status=422)
    assert {name.partition("[")[0] for name in answer.wrong_fields} == {field}
