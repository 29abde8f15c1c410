"""Agents: made, changed, duplicated, deleted, each with its event."""

from typing import Any
from uuid import UUID

import pytest

from tests.make import Make
from tests.voice.desk import AGENTS, Desk
from tillhouse.access.process import Services
from tillhouse.kit.ids import BusinessId
from tillhouse.voice.agents.secrets import open_key

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
        ("language", "EN"),
        ("language", "en-ng"),
        ("language", "en_NG"),
        ("language", "en-NG-x-private"),
        ("language", "en\n"),
        ("language", "--help"),
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
        ("runtime", "magic"),
        ("model_url", "ftp://models.example.com/v1"),
        ("model_url", "http://models.example.com/v1"),
        ("model_url", "https://ada:pa55word@models.example.com/v1"),
        ("model_url", "https://127.0.0.1/v1"),
        ("model_url", "https://[::1]/v1"),
        ("model_url", "https://169.254.169.254/latest"),
        ("model_url", "https://localhost/v1"),
        ("model_url", "https://localhost:11434/v1"),
        ("model_url", "https://models/v1"),
        ("model_url", "https://ours.internal/v1"),
        ("model_url", "https://models.example.com/" + "v" * 2048),
        ("model_name", "m" * 101),
        ("model_key", "two words"),
        ("model_key", "line\r\nbreak"),
        ("model_key", "k" * 501),
        ("instructions", "i" * 10_001),
        ("greeting", "g" * 501),
        ("description", 7),
    ],
)
async def test_a_wrong_field_is_named(desk: Desk, field: str, value: object) -> None:
    """When an agent is made and when it is changed."""
    answer = await desk.api.post(AGENTS, {"name": "Agent", field: value}, status=422)
    assert {name.partition("[")[0] for name in answer.wrong_fields} == {field}
    answer = await desk.api.patch(f"{AGENTS}/{desk.agent_id}", {field: value}, status=422)
    assert {name.partition("[")[0] for name in answer.wrong_fields} == {field}


_MODEL = {"model_url": "https://models.example.com/v1", "model_name": "small"}
_KEY = "sk-a-key-of-nobody"


@pytest.mark.parametrize("missing", ["model_url", "model_name"])
async def test_a_chat_needs_its_model(desk: Desk, missing: str) -> None:
    """The field that is missing is named, also when it is taken away later."""
    body = {"name": "Agent", "runtime": "chat", **_MODEL}
    answer = await desk.api.post(AGENTS, {**body, missing: None}, status=422)
    assert answer.wrong_fields == {missing}
    made = await desk.agent(**body)
    answer = await desk.api.patch(f"{AGENTS}/{made['id']}", {missing: None}, status=422)
    assert answer.wrong_fields == {missing}
    both = {"runtime": "scripted", missing: None}
    await desk.api.patch(f"{AGENTS}/{made['id']}", both, status=200)


async def _kept_key(services: Services, desk: Desk, agent_id: str) -> str | None:
    agent = UUID(agent_id)
    async with services.pool.reading() as db:
        row = await db.fetchrow("SELECT * FROM voice_agents WHERE id = $1", agent)
        assert row is not None
        assert _KEY not in str(dict(row))
        if row["model_key_sealed"] is None:
            return None
        business_id = BusinessId(UUID(desk.business.id))
        return await open_key(services.vault, db, business_id, agent, row["model_key_sealed"])


async def test_a_models_key_is_kept_and_never_shown(desk: Desk, services: Services) -> None:
    """Neither by an answer nor by its replay; a copy has it, and clearing forgets it."""
    body = {"name": "Agent", "runtime": "chat", **_MODEL, "model_key": _KEY}
    headers = {"idempotency-key": "an-agent-with-a-key"}
    first = await desk.api.post(AGENTS, body, status=201, headers=headers)
    again = await desk.api.post(AGENTS, body, status=201, headers=headers)
    assert first.data == again.data
    assert (first.data["hasModelKey"], first.data["modelUrl"]) == (True, _MODEL["model_url"])
    assert _KEY not in first.body.decode() + again.body.decode()
    path = f"{AGENTS}/{first.data['id']}"
    copy = (await desk.api.post(f"{path}/duplicate", status=201)).data
    for agent_id in (first.data["id"], copy["id"]):
        assert await _kept_key(services, desk, agent_id) == _KEY
    changed = (await desk.api.patch(path, {"model_key": None}, status=200)).data
    assert changed["hasModelKey"] is False
    assert await _kept_key(services, desk, first.data["id"]) is None
    assert await _kept_key(services, desk, copy["id"]) == _KEY
    await desk.api.delete(f"{AGENTS}/{copy['id']}", status=200)
    assert await _kept_key(services, desk, copy["id"]) is None


async def test_a_key_goes_to_no_other_address(desk: Desk, services: Services) -> None:
    """Somebody who may change agents could send it to a server of their own."""
    made = await desk.agent(runtime="chat", **_MODEL, model_key=_KEY)
    path = f"{AGENTS}/{made['id']}"
    await desk.api.patch(path, {"model_name": "large"}, status=200)
    assert await _kept_key(services, desk, made["id"]) == _KEY
    elsewhere = {"model_url": "https://models.example.org/v1"}
    changed = (await desk.api.patch(path, elsewhere, status=200)).data
    assert changed["hasModelKey"] is False
    assert await _kept_key(services, desk, made["id"]) is None
    await desk.api.patch(path, {**_MODEL, "model_key": _KEY}, status=200)
    assert await _kept_key(services, desk, made["id"]) == _KEY
