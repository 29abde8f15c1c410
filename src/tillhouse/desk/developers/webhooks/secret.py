"""The page of signing secrets: seen and replaced after the password, and how to verify by them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from tillhouse.desk.developers.keys.apps import app_names
from tillhouse.desk.developers.payloads import event_of
from tillhouse.desk.developers.webhooks import operations as ops
from tillhouse.desk.developers.webhooks.verifying import LANGUAGES, Language, code, program
from tillhouse.desk.developers.webhooks.words import WEBHOOKS
from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import Goal, PageRequest, PageRoute, Shown
from tillhouse.kit.errors import Missing
from tillhouse.kit.json import encode
from tillhouse.webhooks.signing import service_signature

SIGNING = f"{WEBHOOKS}/signing"
# Larger bodies make a program that is too long to copy.
_BODY_BYTES_MAX = 4_096
_LOOKED_AT = 5


async def show(page: PageRequest) -> Shown:
    """How the deliveries of an app are signed, without the secret."""
    asked: Mapping[str, str] = page.form if page.form.pairs else page.request.query
    frame, apps = await frame_of(page), await app_names(page)
    app = asked.get("developer_app_id") or asked.get("app") or next(iter(apps))
    settings = (await page.needed(ops.SETTINGS, developer_app_id=app)).data if app in apps else []
    if not settings:
        raise Missing
    [one] = settings
    language = _language(asked.get("language"))
    facts: dict[str, Any] = {
        "apps": list(apps.items()),
        "app": app,
        "prefix": one["secretPrefix"],
        "rotated": frame.when_exactly(one["rotatedAt"]),
        "languages": LANGUAGES,
        "language": language,
        "code": code(language),
        "is_told": False,
        "secret": None,
        "how": None,
        "has_delivery": False,
    }
    return Shown("developers/webhooks/signing.html", facts)


async def view(page: PageRequest) -> Shown:
    """Tell the secret, with a program that verifies the last delivery by it."""
    return await _told(page, ops.VIEW_SECRET, "viewed")


async def rotate(page: PageRequest) -> Shown:
    """Replace the secret at once, and tell the new one."""
    return await _told(page, ops.ROTATE, "rotated", page.form.get("idempotency_key"))


async def _told(page: PageRequest, operation: Operation, how: str, key: str | None = None) -> Shown:
    body = {"developer_app_id": page.form.get("developer_app_id")}
    told = await page.act(operation, page.mode, body=body, key=key)
    secret: str | None = told.data["secret"]
    shown = await show(page)
    facts: dict[str, Any] = {**shown.facts, "how": how, "secret": secret, "is_told": True}
    last = await _last(page, shown.facts["app"]) if secret else None
    if secret and last is not None:
        body_sent, at = last
        # The header of its last attempt, as the secret of now makes it.
        header = f"t={at},v1={service_signature(secret, body_sent, at)}"
        facts["code"] = program(shown.facts["language"], body_sent, header, secret)
    facts["has_delivery"] = last is not None
    return msgspec.structs.replace(shown, facts=facts, is_secret=True)


async def _last(page: PageRequest, app: str) -> tuple[bytes, int] | None:
    """The body of the last delivery that was tried and is small enough, and when that was."""
    found = await page.needed(ops.LIST_DELIVERIES, developer_app_id=app, limit=_LOOKED_AT)
    for one in found.data:
        event = await event_of(page, one["eventId"]) if one["attempts"] else None
        body = encode(event) if event is not None else b""
        if body and len(body) <= _BODY_BYTES_MAX:
            tried = (await page.needed(ops.DELIVERY, one["id"])).data["attemptsLog"]
            return body, int(datetime.fromisoformat(tried[-1]["at"]).timestamp())
    return None


def _language(name: str | None) -> Language:
    return next((one for one in LANGUAGES if one.name == name), LANGUAGES[0])


ROUTES = (
    PageRoute("GET", SIGNING, show, goal=Goal("signing.title", (ops.SETTINGS,))),
    PageRoute("POST", f"{SIGNING}/view", view, refused=show),
    PageRoute("POST", f"{SIGNING}/rotate", rotate, refused=show),
)
