"""Calls by agents: numbers, agents, people who are not called, and calls."""

import base64
import struct

from story.story import NOBODY, Story

_BY = {"by": "switchboard"}
_BOLA = "+2348030000001"
# A tenth of a second of silence: a WAV, mono, 8 kHz, 16 bits.
_HEAD = struct.pack("<HHIIHH", 1, 1, 8000, 16_000, 2, 16)
_WAV = b"RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0" + _HEAD + b"data\x40\x06\0\0" + bytes(1600)
_SOUND = base64.b64encode(_WAV).decode()
_RECORDED = """
    WITH call AS (
        UPDATE voice_calls SET status = 'completed', queue_reason = NULL, attempt = 1,
            dialed_at = now(), ringing_at = now(), answered_at = now(), ended_at = now(),
            duration_seconds = 12, ended_reason = 'agent_hangup', ended_by = 'agent',
            answered_by = 'human', outcome_code = 'confirmed', outcome = '{}',
            recording_status = 'ready'
        WHERE id = $1::text::uuid RETURNING book_id, id
    ), step AS (
        INSERT INTO voice_steps (book_id, call_id, attempt, position, role, text, started_ms,
            ended_ms)
        SELECT book_id, id, 1, 1, 'agent', 'This is an automated call, and it is recorded.', 0, 2760
        FROM call
    )
    INSERT INTO voice_recordings (book_id, call_id, file, duration_ms, size_bytes, ready_at)
    SELECT book_id, id, 'a.wav', 12000, 384044, now() FROM call
"""


def numbers(s: Story) -> None:
    """The sandbox's number, and one more."""
    s.chapter("2026-01-31T19:20:00Z")
    key = {
        "name": "Switchboard",
        "environment": "test",
        "scopes": ["voice:read", "voice:calls:read", "voice:calls:create", "voice:agents:write"],
    }
    s.tokens["switchboard"] = s.sends("POST /api/developer/api-keys", key)["secret"]
    [first] = s.sends("GET /v1/voice/numbers", query={"page": 1, "limit": 10}, **_BY)
    s.known["voice_number_id"] = first["id"]
    s.sends("GET /v1/voice/numbers/{voice_number_id}", **_BY)
    s.sends("GET /v1/voice/settings", **_BY)
    s.sends("PATCH /v1/voice/settings", {"calls_per_day": 500}, **_BY)
    s.sends("PATCH /v1/voice/settings", {"calls_per_day": 20_000}, status=422, **_BY)
    wanted = {
        "phone_number": "+15550110001",
        "label": "Evenings",
        "provider": "simulator",
        "max_concurrent_calls": 2,
        "calling_hours": {"from": "17:00", "until": "20:00"},
    }
    second = s.sends("POST /v1/voice/numbers", wanted, **_BY)["id"]
    s.sends("POST /v1/voice/numbers", wanted, status=409, **_BY)
    s.sends("POST /v1/voice/numbers", {**wanted, "provider": "sip"}, status=422, **_BY)
    change = {"label": "Late evenings", "status": "paused"}
    one = "/v1/voice/numbers/{voice_number_id}"
    s.sends("PATCH " + one, change, voice_number_id=second, **_BY)
    s.sends("DELETE " + one, voice_number_id=second, **_BY)


def agents(s: Story) -> None:
    """The front desk, and an agent that asks how it was."""
    s.chapter("2026-01-31T19:25:00Z")
    one = "/v1/voice/agents/{voice_agent_id}"
    query = {"status": "active", "page": 1, "limit": 10}
    [first] = s.sends("GET /v1/voice/agents", query=query, **_BY)
    s.known["voice_agent_id"] = first["id"]
    s.sends("GET " + one, **_BY)
    wanted = {
        "name": "After dinner",
        "language": "en-NG",
        "tone": "warm",
        "script": "feedback",
        "tools": ["record_opt_out"],
        "max_attempts": 2,
    }
    second = s.sends("POST /v1/voice/agents", wanted, **_BY)["id"]
    s.sends("POST /v1/voice/agents", {**wanted, "script": "sing"}, status=422, **_BY)
    s.sends("PATCH " + one, {"silence_timeout_seconds": 5}, voice_agent_id=second, **_BY)
    chat = {"runtime": "chat", "model_url": "https://models.example.com/v1"}
    s.sends("PATCH " + one, chat, voice_agent_id=second, status=422, **_BY)
    s.sends(
        "PATCH " + one,
        {**chat, "model_name": "small", "model_key": "sk-live-4f9a"},
        voice_agent_id=second,
        **_BY,
    )
    path, greeting = (
        one + "/prompts",
        {"step": "greeting", "text": "Good evening.", "sound": _SOUND},
    )
    s.sends("PUT " + path, greeting, voice_agent_id=second, **_BY)
    wrong = {"step": "encore", "sound": "La"}
    s.sends("PUT " + path, wrong, voice_agent_id=second, status=422, **_BY)
    s.sends("GET " + path, voice_agent_id=second, **_BY)
    copy = s.sends("POST " + one + "/duplicate", voice_agent_id=second, **_BY)["id"]
    s.sends("DELETE " + one, voice_agent_id=copy, **_BY)


def suppressed(s: Story) -> None:
    """Somebody asked in the shop not to be called, and thinks better of it."""
    s.chapter("2026-01-31T19:30:00Z")
    wanted = {"phone_number": "+2348030000099", "note": "Asked in the shop not to be called."}
    entry = s.sends("POST /v1/voice/suppressions", wanted, **_BY)["id"]
    s.known["suppression_id"] = entry
    query = {"phone_number": "+2348030000099", "page": 1, "limit": 10}
    s.sends("GET /v1/voice/suppressions", query=query, **_BY)
    s.sends("GET /v1/voice/suppressions/{suppression_id}", **_BY)
    s.sends("POST /v1/voice/calls", _call(s, customer_phone="+2348030000099"), status=422, **_BY)
    s.sends("DELETE /v1/voice/suppressions/{suppression_id}", **_BY)


async def called(s: Story) -> None:
    """Bola is called about tomorrow; one call is cancelled, another one never placed."""
    s.chapter("2026-01-31T19:35:00Z")
    keyed = {"headers": {"Idempotency-Key": "bola-tomorrow"}, **_BY}
    body = _call(s, context="She ordered two cakes for 10:00.", metadata={"cart": "7"})
    s.sends("POST /v1/voice/calls", {**body, "reservation_id": NOBODY}, status=422, **_BY)
    s.known["call_id"] = s.sends("POST /v1/voice/calls", body, **keyed)["id"]
    s.sends("POST /v1/voice/calls", body, **keyed)
    wrong = {"customer_phone": "0803", "purpose": "", "ai_agent_id": NOBODY}
    s.sends("POST /v1/voice/calls", wrong, status=422, **_BY)
    one = "/v1/voice/calls/{call_id}"
    s.sends("GET " + one + "/recording", status=404, **_BY)
    later = _call(s, scheduled_for="2120-06-01T09:00:00Z", max_attempts=3)
    second = s.sends("POST /v1/voice/calls", later, **_BY)["id"]
    s.sends("POST " + one + "/cancel", call_id=second, **_BY)
    s.sends("POST " + one + "/hangup", call_id=second, **_BY)
    satellite = _call(s, customer_phone="+881621450000")
    s.sends("POST /v1/voice/calls", satellite, status=422, **_BY)
    await s.happens(_RECORDED, s.known["call_id"])
    s.sends("GET " + one, **_BY)
    s.sends("POST " + one + "/cancel", status=409, **_BY)
    s.sends("GET " + one + "/recording", **_BY)
    s.sends("GET " + one + "/transcript", **_BY)
    s.sends("GET /v1/voice/calls", query={"page": 1, "limit": 10, "status": "completed"}, **_BY)
    query = {
        "direction": "outbound",
        "ai_agent_id": s.known["voice_agent_id"],
        "business_voice_number_id": s.known["voice_number_id"],
        "customer_phone": _BOLA,
        "start_date": "2020-01-01",
        "end_date": "2120-01-31",
        "ended_reason": "agent_hangup",
        "search": "tomorrow",
    }
    s.sends("GET /v1/voice/calls", query=query, **_BY)
    s.sends("GET /v1/voice/calls", query={"customer_id": NOBODY}, **_BY)


def _call(s: Story, **fields: object) -> dict[str, object]:
    return {
        "customer_phone": _BOLA,
        "customer_name": "Bola Ahmed",
        "purpose": "Confirm tomorrow's order",
        "business_voice_number_id": s.known["voice_number_id"],
        "ai_agent_id": s.known["voice_agent_id"],
        **fields,
    }
