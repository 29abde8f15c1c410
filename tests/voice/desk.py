"""The world of tests of voice: a business that calls, its numbers, agents and calls."""

import itertools
import secrets
from typing import Any

from tests.api import Api
from tests.make import Business

NUMBERS, AGENTS, CALLS = "/v1/voice/numbers", "/v1/voice/agents", "/v1/voice/calls"
SUPPRESSIONS = "/v1/voice/suppressions"
SCOPES = ("voice:read", "voice:calls:read", "voice:calls:create", "voice:agents:write")
SETTINGS = {"host": "sip.example.com", "username": "ada", "password": "pa55word"}


# In turns: two numbers that are drawn may be the same.
_DRAWN = itertools.count(secrets.randbelow(10**4))


def phone(ending: str = "0100") -> str:
    """A number that nobody else calls, with this ending."""
    return f"+23480{next(_DRAWN) % 10**4:04}{ending}"


class Desk:
    """A business, seen by a key that may do all of voice."""

    def __init__(self, business: Business, api: Api, number_id: str, agent_id: str) -> None:
        self.business = business
        self.api = api
        self.number_id = number_id
        self.agent_id = agent_id

    @classmethod
    async def open(cls, business: Business) -> "Desk":
        """The test book's own number and agent."""
        api = await business.client(*SCOPES)
        [number] = (await api.get(NUMBERS, status=200)).data
        [agent] = (await api.get(AGENTS, status=200)).data
        return cls(business, api, number["id"], agent["id"])

    def body(self, **fields: Any) -> dict[str, Any]:
        """A call that can be placed."""
        return {
            "customer_phone": phone(),
            "purpose": "Confirm tomorrow's order",
            "business_voice_number_id": self.number_id,
            "ai_agent_id": self.agent_id,
            **fields,
        }

    async def place(self, **fields: Any) -> dict[str, Any]:
        """A call in the queue."""
        return (await self.api.post(CALLS, self.body(**fields), status=202)).data

    async def call(self, call_id: str) -> dict[str, Any]:
        """A call as it is now."""
        return (await self.api.get(f"{CALLS}/{call_id}", status=200)).data

    async def agent(self, **fields: Any) -> dict[str, Any]:
        """An agent of its own."""
        return (await self.api.post(AGENTS, {"name": "Night shift", **fields}, status=201)).data

    async def number(self, **fields: Any) -> dict[str, Any]:
        """A number of its own, that calls at any time."""
        body = {
            "phone_number": f"+1555{secrets.randbelow(10**7):07}",
            "label": "Second line",
            "calling_hours": None,
            **fields,
        }
        return (await self.api.post(NUMBERS, body, status=201)).data
