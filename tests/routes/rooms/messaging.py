"""The facts that the generated tests need about the routes of messaging."""

from collections.abc import Awaitable, Callable
from secrets import token_hex
from typing import Any

from tests.make import Business

_REPLIES = "/v1/messaging/quick-replies"
_NUMBERS = "/v1/messaging/numbers"
_WHATSAPP = {
    "phone_number": "+2348030000000",
    "provider_number_id": "106540352242922",
    "access_token": "EAAJB-token",
    "app_secret": "app-secret",
    "verify_token": "verify-token",
}


def _in(environment: str) -> dict[str, str]:
    return {"service-environment": environment}


async def active_number(business: Business, environment: str = "test") -> str:
    """The id of the number that a book writes from, connected when there is none."""
    listed = await business.owner.get(_NUMBERS, headers=_in(environment), status=200)
    for number in listed.data:
        if number["status"] == "active":
            return number["id"]
    body = {"provider": "sandbox"} if environment == "test" else _WHATSAPP
    return (await business.made(_NUMBERS, body, environment))["id"]


async def _without_number(business: Business) -> dict[str, Any]:
    path = f"{_NUMBERS}/{await active_number(business)}"
    await business.owner.delete(path, headers=_in("test"), status=200)
    return {"provider": "sandbox"}


async def _make_conversation(business: Business, environment: str) -> str:
    await active_number(business, environment)
    body = {"phone_number": "+2348030000009"}
    return (await business.made("/v1/conversations", body, environment))["id"]


async def _with_number(business: Business) -> dict[str, Any]:
    await active_number(business)
    return {"from": "+2348030000009", "text": "Is my order ready?"}


async def _make_quick_reply(business: Business, environment: str) -> str:
    return (await business.made(_REPLIES, _reply("hours"), environment))["id"]


async def _delete_quick_reply(business: Business, quick_reply_id: str) -> None:
    path = f"{_REPLIES}/{quick_reply_id}"
    await business.owner.delete(path, headers=_in("test"), status=200)


def _reply(shortcut: str) -> dict[str, Any]:
    return {"shortcut": f"{shortcut}-{token_hex(4)}", "text": "We are open from 9 to 18 h."}


async def _make_attachment(business: Business, environment: str) -> str:
    return (await business.made("/v1/messaging/attachments", {}, environment))["id"]


MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    "number_id": active_number,
    "conversation_id": _make_conversation,
    "quick_reply_id": _make_quick_reply,
    "attachment_id": _make_attachment,
}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {
    "quick_reply_id": _delete_quick_reply,
}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    "POST /v1/conversations": lambda _: {"phone_number": "+2348030000009"},
    "PATCH /v1/conversations/{conversation_id}": lambda b: {"assignee_id": b.user_id},
    "POST /v1/conversations/{conversation_id}/messages": lambda _: {"text": "It is ready."},
    "POST /v1/conversations/{conversation_id}/read": lambda _: {},
    "POST /v1/conversations/{conversation_id}/notes": lambda _: {"text": "Prefers calls."},
    "POST /v1/messaging/quick-replies": lambda _: _reply("hours"),
    "PATCH /v1/messaging/quick-replies/{quick_reply_id}": lambda _: _reply("open"),
    "POST /v1/messaging/attachments": lambda _: {"filename": "menu.pdf"},
    "PATCH /v1/messaging/inbox": lambda _: {"assigns_automatically": False},
    "PUT /v1/messaging/presence": lambda _: {"seconds": 300},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {
    "POST /v1/messaging/numbers": _without_number,
    "POST /v1/messaging/sandbox/inbound": _with_number,
}
# Bodies that differ from the ones that pass.
OTHER_BODIES: dict[str, dict[str, Any]] = {
    "POST /v1/messaging/numbers": _WHATSAPP,
    "POST /v1/messaging/sandbox/inbound": {"from": "+2348030000009", "text": "Hello?"},
    "POST /v1/conversations": {"phone_number": "+2348030000010"},
    "POST /v1/conversations/{conversation_id}/messages": {"text": "It is not."},
    "POST /v1/conversations/{conversation_id}/notes": {"text": "Prefers messages."},
    "POST /v1/messaging/quick-replies": {"shortcut": "other", "text": "Another."},
    "POST /v1/messaging/attachments": {"filename": "offer.pdf"},
}
