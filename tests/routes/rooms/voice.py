"""The facts that the generated tests need about the routes of voice."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business

_VOICE = "/v1/voice"
_CALLS, _LIST = f"{_VOICE}/calls", f"{_VOICE}/suppressions"

_SETTINGS = {"simulator": {}, "sip": {"host": "sip.example.com"}}


def _phone() -> str:
    return f"+1555{secrets.randbelow(10**7):07}"


async def _make_number(business: Business, environment: str) -> str:
    provider = "simulator" if environment == "test" else "sip"
    body: dict[str, Any] = {"phone_number": _phone(), "label": "Second line"}
    body |= {"provider": provider, "settings": _SETTINGS[provider]}
    return (await business.made(f"{_VOICE}/numbers", body, environment))["id"]


async def _make_agent(business: Business, environment: str) -> str:
    return (await business.made(f"{_VOICE}/agents", {"name": "Night shift"}, environment))["id"]


async def _make_suppression(business: Business, environment: str) -> str:
    return (await business.made(_LIST, {"phone_number": _phone()}, environment))["id"]


async def _body(business: Business, environment: str = "test") -> dict[str, Any]:
    return {
        "customer_phone": _phone(),
        "purpose": "Confirm tomorrow's order",
        "business_voice_number_id": await _make_number(business, environment),
        "ai_agent_id": await _make_agent(business, environment),
    }


async def _make_call(business: Business, environment: str) -> str:
    headers = {"service-environment": environment}
    body = await _body(business, environment)
    return (await business.owner.post(_CALLS, body, headers=headers, status=202)).data["id"]


async def _make_recorded(business: Business, environment: str) -> str:
    call_id = await _make_call(business, environment)
    async with business.anybody.app.services.pool.transaction() as db:
        await db.execute(
            """
            WITH call AS (
                UPDATE voice_calls SET recording_status = 'ready' WHERE id = $1::text::uuid
                RETURNING book_id, id
            )
            INSERT INTO voice_recordings (book_id, call_id, file, duration_ms, size_bytes, ready_at)
            SELECT book_id, id, 'a.wav', 1000, 32044, now() FROM call
            """,
            call_id,
        )
    return call_id


def _remover(path: str) -> Callable[[Business, str], Awaitable[None]]:
    async def remove(business: Business, thing_id: str) -> None:
        headers = {"service-environment": "test"}
        await business.owner.delete(f"{path}/{thing_id}", headers=headers, status=200)

    return remove


# A call stays for ever, so it has no remover.
MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    "voice_number_id": _make_number,
    "voice_agent_id": _make_agent,
    "suppression_id": _make_suppression,
    "call_id": _make_call,
}
OWN_MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    f"GET {_CALLS}/{{call_id}}/recording": _make_recorded,
}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {
    "voice_number_id": _remover(f"{_VOICE}/numbers"),
    "voice_agent_id": _remover(f"{_VOICE}/agents"),
    "suppression_id": _remover(_LIST),
}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    f"POST {_VOICE}/numbers": lambda _: {"phone_number": _phone(), "label": "Second line"},
    f"PATCH {_VOICE}/settings": lambda _: {"calls_per_day": 500},
    f"POST {_LIST}": lambda _: {"phone_number": _phone()},
    f"PUT {_VOICE}/agents/{{voice_agent_id}}/prompts": lambda _: {"step": "greeting"},
    f"PATCH {_VOICE}/numbers/{{voice_number_id}}": lambda _: {"label": "Day line"},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {f"POST {_CALLS}": _body}
# Bodies that differ from the one that passes: none of these things has a `name`.
OTHER_BODIES: dict[str, dict[str, Any]] = {
    f"POST {_CALLS}": {
        "customer_phone": "+15550104321",
        "purpose": "Another one",
        "business_voice_number_id": "00000000-0000-7000-8000-000000000000",
        "ai_agent_id": "00000000-0000-7000-8000-000000000000",
    },
    f"POST {_VOICE}/numbers": {"phone_number": "+15550104321", "label": "Third line"},
    f"POST {_LIST}": {"phone_number": "+15550104321"},
}
