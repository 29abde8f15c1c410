"""Sound that agents play at the steps of their scripts, where no engine speaks."""

import asyncio
import base64
import math
import struct
import wave
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.make import Make
from tests.providers.telephony.sip.sounds import correlation
from tests.voice.desk import AGENTS, CALLS, Desk, phone
from tests.voice.speech.test_party import Line
from tests.voice.virtual import Network
from tillhouse.kit.clock import now
from tillhouse.providers.telephony.sip.g711 import encode
from tillhouse.voice.prompts.rules import BYTES_MAX, PROMPTS_MAX
from tillhouse.voice.speech.party import LineEngines, SpokenParty
from tillhouse.voice.speech.protocols import NotSpoken
from tillhouse.voice.speech.wav import telephone_wav


def _tone(seconds: float = 0.5, pitch: float = 440) -> bytes:
    count = round(8000 * seconds)
    samples = (round(9000 * math.sin(2 * math.pi * pitch * at / 8000)) for at in range(count))
    return struct.pack(f"<{count}h", *samples)


def _wav(kind: int, channels: int, rate: int, bits: int, sound: bytes) -> bytes:
    head = struct.pack("<HHIIHH", kind, channels, rate, rate, 1, bits)
    parts = (b"RIFF\0\0\0\0WAVEfmt ", struct.pack("<I", 16), head, b"data",
             struct.pack("<I", len(sound)), sound)  # fmt: skip
    return b"".join(parts)


def _base64(wav: bytes) -> str:
    return base64.b64encode(wav).decode()


async def _put(desk: Desk, agent: dict[str, Any], status: int = 200, **body: Any) -> Any:
    path = f"{AGENTS}/{agent['id']}/prompts"
    answer = await desk.api.put(path, body, status=status)
    return answer.data if status == 200 else answer


async def _play_all(desk: Desk, agent: dict[str, Any], sound: bytes) -> dict[str, Any]:
    """Give every step a sound; the prompts afterwards."""
    path = f"{AGENTS}/{agent['id']}/prompts"
    shown = (await desk.api.get(path, status=200)).data
    wav = _base64(telephone_wav(sound))
    for step in shown["steps"]:
        name = step["step"]
        shown = await _put(desk, agent, step=name, text=f"The sound of {name}.", sound=wav)
    return shown


async def test_a_call_plays_what_the_agent_has(caller: Desk, network: Network) -> None:
    """Its sound is on the recording, and its words in the transcript; the keys lead on."""
    agent = await caller.agent(script="feedback")
    sound = _tone()
    shown = await _play_all(caller, agent, sound)
    assert (shown["script"], shown["isComplete"]) == ("feedback", True)
    assert {step["durationSeconds"] for step in shown["steps"]} == {0.5}
    placed = await caller.place(customer_phone=phone("0109"), ai_agent_id=agent["id"])
    await network.run()
    call = await caller.call(placed["id"])
    assert call["outcome"] == {"code": "rated", "data": {"rating": "1", "comment": "thank you"}}
    path = f"{CALLS}/{placed['id']}/transcript"
    turns = (await caller.api.get(path, status=200)).data["turns"]
    said = [turn["text"] for turn in turns if turn["role"] == "agent"]
    steps = ("disclosure", "greeting", "start", "comment", "thanks")
    assert said == [f"The sound of {step}." for step in steps]
    assert turns[0]["endMs"] - turns[0]["startMs"] == 500
    parts = urlsplit(call["recordingUrl"])
    body = (await caller.business.anybody.get(f"{parts.path}?{parts.query}", status=200)).body
    with wave.open(BytesIO(body)) as file:
        stereo = struct.unpack(f"<{file.getnframes() * 2}h", file.readframes(file.getnframes()))
    assert correlation(struct.unpack("<4000h", sound), stereo[::2][:4000]) > 0.99


async def test_a_step_without_a_sound_is_spoken(caller: Desk, network: Network) -> None:
    """One that was removed, too; sounds of another script wait for it."""
    agent = await caller.agent(script="feedback")
    await _play_all(caller, agent, _tone())
    shown = await _put(caller, agent, step="start")
    start = next(step for step in shown["steps"] if step["step"] == "start")
    assert (start["text"], start["durationSeconds"], shown["isComplete"]) == (None, None, False)
    await caller.place(customer_phone=phone("0109"), ai_agent_id=agent["id"])
    await network.run()
    [call] = (await caller.api.get(CALLS, status=200)).data
    path = f"{CALLS}/{call['id']}/transcript"
    turns = (await caller.api.get(path, status=200)).data["turns"]
    said = [turn["text"] for turn in turns if turn["role"] == "agent"]
    assert said[1:3] == ["The sound of greeting.", start["spoken"]]
    path = f"{AGENTS}/{agent['id']}"
    await caller.api.patch(path, {"script": "payment_reminder"}, status=200)
    other = (await caller.api.get(f"{path}/prompts", status=200)).data
    assert {step["text"] for step in other["steps"]} == {None}
    await caller.api.patch(path, {"script": "feedback"}, status=200)
    assert (await caller.api.get(f"{path}/prompts", status=200)).data == shown


async def test_a_line_without_an_engine_plays_and_says_nothing() -> None:
    """A sound is played; words can't be."""
    line = Line()
    party = SpokenParty(line, LineEngines(None, None, "en"), now)
    line.came.put_nowait(None)
    await party.say("Hello.", _tone())
    with pytest.raises(NotSpoken):
        await party.say("Hello.")
    party.close()


@pytest.mark.parametrize(
    "wav",
    [
        b"",
        b"RIFF",
        telephone_wav(b""),
        telephone_wav(bytes(16_000 * 31)),
        _wav(1, 2, 8000, 16, bytes(320)),
        _wav(1, 1, 16_000, 16, bytes(320)),
        _wav(1, 1, 8000, 8, bytes(320)),
        _wav(6, 1, 8000, 8, bytes(320)),
        _wav(7, 1, 8000, 16, bytes(320)),
        _wav(7, 1, 8000, 8, bytes(8000 * 31)),
        b"ID3" + bytes(500),
    ],
)
async def test_another_sound_is_refused(desk: Desk, wav: bytes) -> None:
    """By name, and nothing is kept."""
    agent = await desk.agent(script="feedback")
    refused = await _put(desk, agent, 422, step="start", text="Hello.", sound=_base64(wav))
    assert refused.wrong_fields == {"sound"}


async def test_every_wrong_field_of_a_sound_is_named(desk: Desk) -> None:
    """No base64, no step of this script, no words."""
    agent = await desk.agent(script="feedback")
    wrong = {"step": "keep", "sound": _base64(telephone_wav(_tone()))}
    refused = await _put(desk, agent, 422, **wrong)
    assert refused.wrong_fields == {"step", "text"}
    refused = await _put(desk, agent, 422, step="Start!", text=" ", sound="no sound")
    assert refused.wrong_fields == {"step", "text", "sound"}


async def test_mu_law_is_kept_as_it_sounds(desk: Desk) -> None:
    """A second of it is a second."""
    agent = await desk.agent(script="feedback")
    wav = _base64(_wav(7, 1, 8000, 8, encode("PCMU", _tone(1.0))))
    shown = await _put(desk, agent, step="start", text="Hello.", sound=wav)
    assert [step["durationSeconds"] for step in shown["steps"]].count(1.0) == 1


async def test_sounds_go_with_their_agent(desk: Desk, make: Make) -> None:
    """A copy has them, a deleted one has none, and nobody else's can be read or set."""
    agent = await desk.agent(script="feedback")
    shown = await _play_all(desk, agent, _tone(0.1))
    after = (await desk.api.get(f"{AGENTS}/{agent['id']}", status=200)).data
    assert after["updatedAt"] > agent["updatedAt"]
    copy = (await desk.api.post(f"{AGENTS}/{agent['id']}/duplicate", status=201)).data
    copied = (await desk.api.get(f"{AGENTS}/{copy['id']}/prompts", status=200)).data
    assert [step["text"] for step in copied["steps"]] == [step["text"] for step in shown["steps"]]
    stranger = await Desk.open(await make.business())
    await stranger.api.get(f"{AGENTS}/{agent['id']}/prompts", status=404)
    await _put(stranger, agent, 404, step="start")
    await desk.api.delete(f"{AGENTS}/{agent['id']}", status=200)
    await desk.api.get(f"{AGENTS}/{agent['id']}/prompts", status=404)
    async with desk.api.app.services.pool.reading() as db:
        left = await db.fetchval(
            "SELECT count(*) FROM voice_prompts WHERE agent_id = $1::text::uuid", agent["id"]
        )
    assert left == 0


async def _keep(desk: Desk, agent: dict[str, Any], count: int, size: int) -> None:
    """Give an agent so many sounds of so many bytes, of a script that nobody leads."""
    async with desk.api.app.services.pool.transaction() as db:
        await db.execute(
            """
            INSERT INTO voice_prompts (book_id, agent_id, script, step, text, sound, created_at,
                updated_at)
            SELECT book_id, id, 'sing', 'step_' || n, 'La', convert_to(repeat('x', $3), 'UTF8'),
                now(), now()
            FROM voice_agents CROSS JOIN generate_series(1, $2) n WHERE id = $1::text::uuid
            """,
            agent["id"],
            count,
            size,
        )


async def _kept(desk: Desk) -> int:
    async with desk.api.app.services.pool.reading() as db:
        return await db.fetchval(
            """
            SELECT count(*) FROM voice_prompts
            WHERE book_id = (SELECT book_id FROM voice_agents WHERE id = $1::text::uuid)
            """,
            desk.agent_id,
        )


@pytest.mark.parametrize(("count", "size"), [(PROMPTS_MAX - 1, 0), (1, BYTES_MAX - 1600)])
async def test_a_book_keeps_only_so_many(desk: Desk, count: int, size: int) -> None:
    """The next is refused, and says what to do; one that is replaced takes no more room."""
    agent = await desk.agent(script="feedback")
    await _keep(desk, agent, count, size)
    wav = _base64(telephone_wav(_tone(0.1)))
    for _ in range(2):
        await _put(desk, agent, step="start", text="Hello.", sound=wav)
    refused = await _put(desk, agent, 409, step="thanks", text="Bye.", sound=wav)
    assert refused.error == "limit_reached"
    assert "remove some" in refused.json["message"]
    await _put(desk, agent, step="start")
    await _put(desk, agent, step="thanks", text="Bye.", sound=wav)


async def test_copies_are_counted_too(desk: Desk) -> None:
    """An agent whose sounds fit no second time is not copied, with or without them."""
    agent = await desk.agent(script="feedback")
    await _keep(desk, agent, PROMPTS_MAX // 2 + 1, 0)
    refused = await desk.api.post(f"{AGENTS}/{agent['id']}/duplicate", status=409)
    assert refused.error == "limit_reached"
    assert await _kept(desk) == PROMPTS_MAX // 2 + 1
    assert len((await desk.api.get(AGENTS, status=200)).data) == 2


async def test_sounds_of_one_moment_are_counted_together(desk: Desk) -> None:
    """Of agents that get their sounds at once, one alone gets the last that fits."""
    agents = [await desk.agent(script="feedback") for _ in range(6)]
    await _keep(desk, agents[0], PROMPTS_MAX - 1, 0)
    body = {"step": "start", "text": "Hello.", "sound": _base64(telephone_wav(_tone(0.1)))}
    answers = await asyncio.gather(
        *(desk.api.put(f"{AGENTS}/{agent['id']}/prompts", body) for agent in agents)
    )
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409, 409, 409]
    assert await _kept(desk) == PROMPTS_MAX


async def test_a_sound_that_is_too_long_is_never_read(desk: Desk) -> None:
    """Its length is judged before its form, and a longer body than any before its JSON."""
    agent = await desk.agent(script="feedback")
    for sound in ("A" * 700_004, "!" * 700_004):
        refused = await _put(desk, agent, 422, step="start", text="Hello.", sound=sound)
        assert refused.wrong_fields == {"sound"}
    await _put(desk, agent, 413, step="start", text="Hello.", sound="A" * 2**20)
