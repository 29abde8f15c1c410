"""An inbox with several members: who is online, and what was assigned to whom."""

import asyncio
from collections import Counter
from datetime import datetime
from typing import Any
from uuid import UUID

from tests.api import Api
from tests.kitchen.sale_rows import Kitchen
from tests.make import Business, Make
from tests.routes.rooms.messaging import active_number
from tillhouse.access.process import Services
from tillhouse.accounts.store import upsert_member
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId, UserId
from tillhouse.messaging.jobs import kinds

TALKS = "/v1/conversations"
INBOUND = "/v1/messaging/sandbox/inbound"
PRESENCE = "/v1/messaging/presence"
ASSIGNED = "messaging.conversation.assigned"


class Member:
    """A person of the business, logged in."""

    def __init__(self, user_id: str, api: Api) -> None:
        self.id = user_id
        self.api = api

    async def comes(self, **given: Any) -> dict[str, Any]:
        """Say to be online."""
        return (await self.api.put(PRESENCE, given, status=200)).data


class Inbox:
    """A test book whose customers write."""

    def __init__(self, services: Services, business: Business, api: Api, kitchen: Kitchen) -> None:
        self.services = services
        self.business = business
        self.api = api
        self._kitchen = kitchen

    @classmethod
    async def open(cls, services: Services, business: Business) -> "Inbox":
        """With a key that reads and writes."""
        await active_number(business)
        api = await business.client("messaging:read", "messaging:write")
        return cls(services, business, api, await Kitchen.of(services, business))

    @property
    def business_id(self) -> BusinessId:
        """The id of the business."""
        return BusinessId(UUID(self.business.id))

    @property
    def owner(self) -> Member:
        """The first member."""
        return Member(self.business.user_id, self.business.owner)

    async def member(self, make: Make, role: str = "manager") -> Member:
        """One more, who has a business of the same trade and joins this one."""
        other = await make.business()
        async with self.services.pool.transaction() as db:
            await upsert_member(
                db,
                BusinessId(UUID(self.business.id)),
                UserId(UUID(other.user_id)),
                role,
                now(),
            )
        path, body = "/api/auth/switch", {"business_id": self.business.id}
        token = (await other.owner.post(path, body, status=200)).data["accessToken"]
        return Member(other.user_id, other.anybody.as_bearer(token))

    async def hear(self, number: int, text: str = "Hello") -> str:
        """A customer writes; the conversation's id."""
        body = {"from": f"+23480300{number:05}", "text": text}
        return (await self.api.post(INBOUND, body, status=201)).data["conversationId"]

    async def talk(self, conversation_id: str) -> dict[str, Any]:
        """A conversation as it is."""
        return (await self.api.get(f"{TALKS}/{conversation_id}", status=200)).data

    async def change(self, conversation_id: str, status_: int = 200, **patch: Any) -> Any:
        """Change it; the answer."""
        return await self.api.patch(f"{TALKS}/{conversation_id}", patch, status=status_)

    async def work(self, at: datetime | None = None, processes: int = 1) -> None:
        """Workers do what is due."""
        runners = [
            JobRunner(self.services.pool, kinds(self.services), self.services.job_results)
            for _ in range(processes)
        ]
        await asyncio.gather(*(runner.run_due(at or now()) for runner in runners))

    async def told(self) -> list[dict[str, Any]]:
        """The data of the events of assignments."""
        return await self._kitchen.events(ASSIGNED)

    async def shares(self) -> Counter[str]:
        """How many conversations were assigned to each, each conversation once."""
        told = await self.told()
        talks = [data["conversationId"] for data in told]
        assert len(set(talks)) == len(talks)
        return Counter(data["assigneeId"] for data in told)
