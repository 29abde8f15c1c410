"""Messages to and from customers: what this room brings along."""

from tillhouse.access.process import Services
from tillhouse.messaging.hook_routes import HOOKS
from tillhouse.messaging.routes import ROUTES
from tillhouse.messaging.worker import MessageWorker
from tillhouse.room import Room


async def _worker(services: Services) -> MessageWorker:
    return MessageWorker(services)


ROOM = Room(
    name="messaging",
    routes=ROUTES,
    pages=lambda: HOOKS,
    tables=("conversations", "messages", "messaging_inbox", "messaging_numbers"),
    workers=(_worker,),
)
