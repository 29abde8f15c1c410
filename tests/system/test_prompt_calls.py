"""Calls of an installation without any engine: sounds of its own are played, and keys answer."""

import asyncio
import base64
import math
import struct
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.conftest import fresh_database
from tests.providers.telephony.sip.programs import Baresip, baresip
from tests.providers.telephony.sip.sounds import correlation, samples, write_tone
from tests.system.client import Client, register
from tests.system.serving import Serving, report
from tests.tools import needs
from tests.voice.desk import AGENTS, CALLS, NUMBERS, SCOPES, Desk, phone
from tests.waiting import within
from tests.webhooks.shop import until as seen
from tillhouse.voice.speech.wav import telephone_wav

_STEPS = ("disclosure", "greeting", "start", "comment", "thanks")
_SECONDS = 0.4
_RATE = 8000
_SILENCE = 8
# So many samples of silence are the end of a sound.
_PAUSE = 800
_FINAL = ("completed", "failed", "missed", "cancelled")
# Of a WAV that is still being written, whose head doesn't tell its length.
_HEAD_BYTES = 44


def _sweep(number: int) -> list[int]:
    """A sound that is like no other one, and like itself at no other moment."""
    from_hz = 300 + 250 * number
    times = (index / _RATE for index in range(round(_RATE * _SECONDS)))
    return [int(9000 * math.sin(2 * math.pi * (from_hz + 300 * t) * t)) for t in times]


@pytest.fixture
async def serving(server_url: str, master_key: str, tmp_path: Path) -> AsyncIterator[Serving]:
    """A server on a machine without a program that speaks."""
    path = tmp_path / "bin"
    path.mkdir()
    async with fresh_database(server_url, "tillhouse_prompts") as url:
        made = await Serving.up(
            path=path,
            DATABASE_URL=url,
            MASTER_KEY=master_key,
            DATA=str(tmp_path / "data"),
            VOICE_ALLOW_TARGETS="127.0.0.1",
        )
        yield made
        if made.process.returncode is None:
            await made.stop()
        made.kill()


async def _desk(client: Client, softphone: Baresip) -> Desk:
    """A business whose telephone line leads to the softphone."""
    business = await register(client)
    api = await business.client(*SCOPES, environment="live")
    port = softphone.uri.rpartition(":")[2]
    number = {
        "phone_number": "+14155550100", "label": "Line", "provider": "sip",
        "settings": {"host": "127.0.0.1", "port": port}, "calling_hours": None,
    }  # fmt: skip
    made = (await api.post(NUMBERS, number, status=201)).data
    agent = {"name": "Ada", "script": "feedback", "silence_timeout_seconds": 3}
    return Desk(business, api, made["id"], (await api.post(AGENTS, agent, status=201)).data["id"])


async def _until(desk: Desk, call_id: str, *statuses: str) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        call = await desk.call(call_id)
        return call if call["status"] in statuses else None

    return await seen(look)


async def _give_sounds(desk: Desk) -> None:
    path = f"{AGENTS}/{desk.agent_id}/prompts"
    shown = (await desk.api.get(path, status=200)).data
    for step in shown["steps"]:
        name = step["step"]
        sound = _sweep(_STEPS.index(name)) if name in _STEPS else _sweep(0)
        wav = telephone_wav(struct.pack(f"<{len(sound)}h", *sound))
        body = {"step": name, "text": f"This is {name}.", "sound": base64.b64encode(wav).decode()}
        shown = (await desk.api.request("PUT", path, body, status=200)).data
    assert shown["isComplete"]


async def _has_heard(softphone: Baresip, sounds: int) -> None:
    """Wait until the softphone has written down so many sounds to their ends."""
    wanted = round(sounds * _SECONDS * _RATE * 0.9)
    async with within():
        while True:
            found = list(softphone.folder.glob("dump-*-dec.wav"))
            data = found[0].read_bytes()[_HEAD_BYTES:] if found else b""
            heard = _audible(_samples(data))
            if sum(map(bool, heard)) >= wanted and not any(heard[-_PAUSE:]):
                return
            await asyncio.sleep(0.05)


def _audible(heard: Sequence[int]) -> list[int]:
    """The sound that came, with true silence in the place of the softphone's."""
    return [sample if abs(sample) > _SILENCE else 0 for sample in heard]


def _samples(data: bytes) -> Sequence[int]:
    return struct.unpack(f"<{len(data) // 2}h", data[: len(data) // 2 * 2])


@pytest.mark.proof
@needs("baresip")
async def test_a_softphone_hears_the_sounds_of_an_agent_and_answers_by_keys(
    serving: Serving, tmp_path: Path
) -> None:
    """Without them the call fails; with them the script goes on from key to end."""
    folder = tmp_path / "baresip"
    folder.mkdir()
    number = phone()
    async with (
        aiohttp.ClientSession() as session,
        baresip(folder, write_tone(folder), number) as softphone,
    ):
        desk = await _desk(Client(session, serving.address), softphone)
        silent = await desk.place(customer_phone=number)
        over = await _until(desk, silent["id"], *_FINAL)
        assert (over["status"], over["endedReason"]) == ("failed", "agent_error")
        assert over["outcome"]["data"] == {"reason": "no_speech"}
        for file in folder.glob("dump-*.wav"):
            file.unlink()
        await _give_sounds(desk)
        call = await desk.place(customer_phone=number)
        await _has_heard(softphone, _STEPS.index("start") + 1)
        await softphone.command("sndcode", "4")
        over = await _until(desk, call["id"], *_FINAL)
        await softphone.command("quit")
        turns = (await desk.api.get(f"{CALLS}/{call['id']}/transcript", status=200)).data["turns"]
    assert (over["status"], over["endedReason"]) == ("completed", "agent_hangup")
    assert over["outcome"] == {"code": "rated", "data": {"rating": "4"}}
    said = [f"This is {step}." for step in _STEPS]
    said.insert(_STEPS.index("thanks"), "This is comment.")
    assert [turn["text"] for turn in turns if turn["role"] == "agent"] == said
    assert [turn["text"] for turn in turns if turn["role"] == "dtmf"] == ["4"]
    heard = _audible(samples(softphone.heard()))
    alike = [correlation(_sweep(at), heard) for at in range(len(_STEPS))]
    report(f"correlation of what the softphone heard: {', '.join(f'{one:.4f}' for one in alike)}")
    assert min(alike) > 0.99
