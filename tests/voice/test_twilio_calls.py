"""Calls by Twilio from the API to the handset and back, with Twilio in this process."""

import contextlib
import math
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import aiohttp
import asyncpg
import pytest

from tests.conftest import fresh_database
from tests.providers.telephony.sip.programs import free_port
from tests.providers.telephony.sip.sounds import correlation
from tests.providers.telephony.twilio.handset import Handset
from tests.providers.telephony.twilio.simulator import (
    ACCOUNT_SID,
    AUTH_TOKEN,
    OWN_NUMBER,
    Callback,
    TwilioSimulator,
)
from tests.tools import needs
from tests.voice.desk import NUMBERS, SCOPES, Desk, phone
from tests.voice.live import CALLER, Live, installation
from tests.waiting import within
from tests.webhooks.shop import until
from tillhouse.providers.telephony.sip import g711
from tillhouse.providers.telephony.telephones import BODY_BYTES_MAX

SETTINGS = {"account_sid": ACCOUNT_SID, "auth_token": AUTH_TOKEN}
_TONE = [int(9000 * math.sin(2 * math.pi * (200 + 250 * t) * t)) for t in
         (index / 8000 for index in range(8_000))]  # fmt: skip
_FORM = "application/x-www-form-urlencoded"


@pytest.fixture
async def url(server_url: str) -> AsyncIterator[str]:
    """A database whose calls nobody else makes."""
    async with fresh_database(server_url, "tillhouse_twilio_calls") as made:
        yield made


@pytest.fixture
async def sim() -> AsyncIterator[TwilioSimulator]:
    """Twilio."""
    made = await TwilioSimulator().start()
    yield made
    await made.stop()


@pytest.fixture
async def live(
    url: str, master_key: str, tmp_path: Path, sim: TwilioSimulator
) -> AsyncIterator[Live]:
    """An installation that calls by it; its proxies are left out."""
    port = str(free_port())
    settings = {
        "PROVIDER_URLS": f"twilio={sim.base_url}",
        "MEDIA_PORT": port,
        "MEDIA_URL": f"ws://127.0.0.1:{port}/calls",
    }
    async with installation(url, master_key, tmp_path, **settings) as made:
        yield made


async def _placed(live: Live, sim: TwilioSimulator) -> tuple[Desk, str, str]:
    """A desk, its call, and what Twilio calls that."""
    assert CALLER == OWN_NUMBER
    desk = await live.desk("twilio", SETTINGS)
    call = await desk.place(customer_phone=phone(), purpose="The table of tonight")

    async def look() -> str | None:
        return next(iter(sim.calls), None)

    return desk, call["id"], await until(look)


async def _told(desk: Desk, callback: Callback, **headers: str) -> int:
    """Deliver a callback as the proxy before the public address does; the status."""
    path = urlsplit(callback.url).path
    given = {**callback.headers, "content-type": _FORM, **headers}
    answer = await desk.business.anybody.request("POST", path, raw=callback.body, headers=given)
    return answer.status


async def _attempt(url: str) -> asyncpg.Record:
    sql = await asyncpg.connect(url)
    try:
        [row] = await sql.fetch("SELECT told_number, told, result FROM voice_attempts")
        return row
    finally:
        await sql.close()


async def _say_at_pace(handset: Handset, sound: bytes) -> None:
    """Send as much as is heard meanwhile, a little ahead, as a telephone does."""
    ahead, heard_before, sent = 8 * 160, None, 0
    async with within():
        while sent < len(sound):
            handset.changed.clear()
            await handset.changed.wait()
            if heard_before is None:
                heard_before = len(handset.played)
            due = ahead + len(handset.played) - heard_before
            await handset.say(sound[sent:due])
            sent = max(sent, min(due, len(sound)))


async def _pressing(desk: Desk, call_id: str, handset: Handset) -> dict[str, Any]:
    """Press a key until it answers: those before the question count for nothing."""

    async def look() -> dict[str, Any] | None:
        call = await desk.call(call_id)
        if call["status"] == "completed":
            return call
        # The agent may be hanging up at this moment.
        with contextlib.suppress(aiohttp.ClientConnectionResetError):
            await handset.press("1")
        return None

    return await until(look)


@pytest.mark.proof
@needs("espeak-ng")
async def test_a_call_goes_from_the_api_to_a_handset_and_back(
    live: Live, sim: TwilioSimulator
) -> None:
    """Callbacks move it, sound goes both ways, a key answers, and webhooks tell of all."""
    desk, call_id, sid = await _placed(live, sim)
    sim.move(sid, "ringing")
    for callback in sim.spoilt():
        assert callback.url.startswith("https://till.example.com/hooks/twilio/")
        assert await _told(desk, callback) == 200
    await live.until(desk, call_id, "ringing")
    handset = await Handset(sim, sid).answer()
    await live.until(desk, call_id, "in_progress")
    await _say_at_pace(handset, g711.encode("PCMU", struct.pack(f"<{len(_TONE)}h", *_TONE)))
    over = await _pressing(desk, call_id, handset)
    await handset.ended()
    await handset.close()
    assert (over["status"], over["endedReason"]) == ("completed", "agent_hangup")
    assert over["outcome"]["code"] == "agreed"
    assert over["providerCallId"] == sid
    agent, customer = await live.recording(desk, call_id)
    assert correlation(_TONE, customer) > 0.95
    assert max(map(abs, agent)) > 1000
    assert await live.told(3) == [
        "voice.call.completed", "voice.call.started", "voice.recording.ready",
    ]  # fmt: skip
    assert len(sim.calls) == 1


async def test_a_callback_ends_a_call_and_none_moves_it_back(
    live: Live, sim: TwilioSimulator, url: str
) -> None:
    """Twice, in another order, late, and after the end: all are answered, the last word stays."""
    desk, call_id, sid = await _placed(live, sim)
    sim.announce(sid, "ringing")
    sim.announce(sid, "failed", SipResponseCode="603")
    callbacks = sim.spoilt()
    for callback in [*reversed(callbacks), *callbacks]:
        assert await _told(desk, callback) == 200
    assert (await _attempt(url))["told_number"] == len(callbacks) - 1
    over = await live.ended(desk, call_id)
    assert (over["status"], over["endedReason"]) == ("missed", "declined")
    assert [one["sipStatus"] for one in over["attempts"]] == [603]
    before = await _attempt(url)
    for callback in callbacks:
        assert await _told(desk, callback) == 200
    assert await _attempt(url) == before
    assert (await desk.call(call_id))["status"] == "missed"
    assert await live.told(1) == ["voice.call.failed"]


async def test_only_twilio_is_believed(live: Live, sim: TwilioSimulator, url: str) -> None:
    """Another token, another address, other fields, too many, no signature: nothing is kept."""
    desk, call_id, sid = await _placed(live, sim)
    sim.spoilt()
    sim.announce(sid, "ringing")
    [callback] = sim.spoilt()
    forged = Callback(callback.url, callback.body, "another-token")
    assert await _told(desk, forged) == 401
    changed = Callback(callback.url, callback.body)
    changed.body = changed.body.replace(b"ringing", b"in-progress")
    assert await _told(desk, changed) == 401
    elsewhere = Callback(callback.url.replace("https", "http"), callback.body)
    assert await _told(desk, elsewhere) == 401
    assert await _told(desk, callback, **{"x-twilio-signature": ""}) == 401
    swollen = Callback(callback.url, callback.body + b"&x=" + b"y" * BODY_BYTES_MAX)
    assert await _told(desk, swollen) == 413
    attempt = callback.url.rpartition("/")[2]
    for one, other in (
        ("/twilio/", "/paystack/"), ("/twilio/", "/sip/"), (attempt, "x"), (attempt, str(uuid4())),
    ):  # fmt: skip
        strange = Callback(callback.url.replace(one, other), callback.body)
        assert await _told(desk, strange) == 404
    assert (await _attempt(url))["told"] is None
    assert await _told(desk, callback) == 200
    assert (await _attempt(url))["told"] == callback.body
    sim.move(sid, "busy")
    assert (await live.ended(desk, call_id))["endedReason"] == "busy"


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({}, "account_sid"),
        ({**SETTINGS, "account_sid": "AC5"}, "account_sid"),
        ({"account_sid": ACCOUNT_SID}, "auth_token"),
        ({**SETTINGS, "machine_detection": "yes"}, "machine_detection"),
        ({**SETTINGS, "hook_url": "https://x.example"}, "hook_url"),
    ],
)
async def test_settings_that_make_no_call_are_refused(
    live: Live, settings: dict[str, str], wrong: str
) -> None:
    """When the number is added."""
    desk = await live.desk("twilio", SETTINGS)
    api = await desk.business.client(*SCOPES, environment="live")
    body = {"phone_number": phone(), "label": "Line", "provider": "twilio", "settings": settings}
    answer = await api.post(NUMBERS, body, status=422)
    assert answer.wrong_fields == {f"settings.{wrong}"}
