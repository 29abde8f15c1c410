"""A business with a WhatsApp number, and what happens on it."""

import hmac
import json
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from tests.api import Api, Response
from tests.kitchen.sale_rows import Kitchen
from tests.make import Business
from tests.providers.whatsapp_server import NUMBER_ID, TOKEN, Meta
from tillhouse.access.process import Services
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.messaging import hooks
from tillhouse.messaging.jobs import kinds
from tillhouse.providers.messaging.whatsapp import WhatsApp

PHONE = "+2348030000001"
SECRET = "app-secret"
NUMBERS = "/v1/messaging/numbers"
WHATSAPP = {
    "phone_number": "+2348030000000",
    "provider_number_id": NUMBER_ID,
    "access_token": TOKEN,
    "app_secret": SECRET,
    "verify_token": "verify-token",
}


class Line:
    """The live book of a business, connected."""

    def __init__(self, kitchen: Kitchen, api: Api, meta: Meta, number: dict[str, Any]) -> None:
        self.kitchen = kitchen
        self.api = api
        self.meta = meta
        self.number = number

    @classmethod
    async def open(cls, services: Services, business: Business, meta: Meta) -> "Line":
        """Connect a number."""
        kitchen = await Kitchen.of(services, business, "live")
        scopes = ("messaging:read", "messaging:write", "orders:write", "orders:read")
        api = await business.client(*scopes, environment="live")
        number = (await api.post(NUMBERS, WHATSAPP, status=201)).data
        return cls(kitchen, api, meta, number)

    @property
    def services(self) -> Services:
        """The tools of the application."""
        return self.kitchen.services

    async def talk(self, phone: str = PHONE) -> str:
        """A conversation's id."""
        return (await self.api.post("/v1/conversations", {"phone_number": phone})).data["id"]

    async def hear(self, text: str = "Hello", **fields: Any) -> str:
        """A customer writes; the conversation's id."""
        await self.post(messages=[said(text, **fields)])
        return await self.talk()

    async def write(self, talk: str, body: dict[str, Any], **options: Any) -> Response:
        """Write to the customer of a conversation."""
        return await self.api.post(f"/v1/conversations/{talk}/messages", body, **options)

    async def read(self, talk: str) -> list[dict[str, Any]]:
        """A conversation, the first message first."""
        answer = await self.api.get(f"/v1/conversations/{talk}/messages", status=200)
        return answer.data[::-1]

    async def post(self, **value: Any) -> None:
        """WhatsApp posts an update, which is processed."""
        body = update(**value)
        await hooks.take(self.services, UUID(self.number["id"]), body, signed(body), now())
        await self.work()

    async def work(self, at: datetime | None = None) -> None:
        """A worker does all that there is to do at a moment."""
        whatsapp = WhatsApp(self.meta.url, timeout_s=2)
        jobs = kinds(self.services, lambda _provider: whatsapp)
        await JobRunner(self.services.pool, jobs, self.services.job_results).run_due(at or now())

    async def sent_to(self, message_id: str) -> list[dict[str, Any]]:
        """How often WhatsApp was asked to send a message."""
        return [m for m in self.meta.taken if m["biz_opaque_callback_data"] == message_id]


def later(**delta: float) -> datetime:
    """A moment to come."""
    return now() + timedelta(**delta)


def said(text: str, at: datetime | None = None, **fields: Any) -> dict[str, Any]:
    """A customer's message as WhatsApp tells it."""
    return {
        "from": PHONE.lstrip("+"),
        "id": f"wamid.{uuid4().hex}",
        "timestamp": str(int((at or now()).timestamp())),
        "type": "text",
        "text": {"body": text},
        **fields,
    }


def state(status: str, message_id: str, **fields: Any) -> dict[str, Any]:
    """A report as WhatsApp tells it."""
    return {
        "id": f"wamid.{message_id}",
        "status": status,
        "timestamp": str(int(now().timestamp())),
        "biz_opaque_callback_data": message_id,
        **fields,
    }


def update(**value: Any) -> bytes:
    """An update as it is posted."""
    whole = {"messaging_product": "whatsapp", "metadata": {"phone_number_id": NUMBER_ID}, **value}
    change = {"field": "messages", "value": whole}
    entry = [{"id": "1", "changes": [change]}]
    return json.dumps({"object": "whatsapp_business_account", "entry": entry}).encode()


def signed(body: bytes, secret: str = SECRET) -> str:
    """The header that comes with it."""
    return "sha256=" + hmac.new(secret.encode(), body, sha256).hexdigest()
