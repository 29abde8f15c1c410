"""Messages to and from customers: what this room brings along."""

from tillhouse.access.process import Services
from tillhouse.access.scopes import pair
from tillhouse.db.constraints import taken
from tillhouse.http.route import Group
from tillhouse.jobs.folding import folding_worker
from tillhouse.jobs.worker import Worker
from tillhouse.messaging.attachments.pages import PAGES
from tillhouse.messaging.attachments.quota import ATTACHMENTS, SWEEP
from tillhouse.messaging.events import EVENTS
from tillhouse.messaging.hook_routes import HOOKS
from tillhouse.messaging.jobs import kinds
from tillhouse.messaging.routes import ROUTES
from tillhouse.messaging.store.tallies import update_tallies
from tillhouse.room import Room


async def _folding(services: Services) -> Worker:
    """The worker that folds the tallies of conversations in one process."""
    return folding_worker("tallies of conversations", services.pool, update_tallies)


ROOM = Room(
    name="messaging",
    routes=ROUTES,
    groups=(
        Group(
            "/v1/messaging",
            "Messaging",
            "The inbox: numbers, conversations and messages.",
            "messaging",
        ),
        Group(
            "/v1/conversations",
            "Messaging",
            "The inbox: numbers, conversations and messages.",
            "messaging",
        ),
    ),
    pages=lambda: (*HOOKS, *PAGES),
    events=EVENTS,
    scopes=pair(
        "messaging", ("conversations and messages", "Messaging"), "high", readers=("front_desk",)
    ),
    kept_tables=(
        "conversation_notes",
        "conversation_tallies",
        "conversations",
        "messages",
        "messaging_attachments",
        "messaging_inboxes",
        "messaging_numbers",
        "messaging_presence",
        "messaging_storage",
        "messaging_turns",
        "quick_replies",
    ),
    swept_tables={"conversation_tally_changes": "tallies of conversations"},
    refusals=(
        taken(
            "quick_replies_shortcut_key",
            "There is a quick reply of this shortcut already: choose another one.",
        ),
    ),
    jobs=kinds,
    chores=lambda _: (SWEEP,),
    stored=(ATTACHMENTS,),
    workers=(_folding,),
)
