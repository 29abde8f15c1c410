"""Messages to and from customers: the face of the room."""

from tillhouse.access.scopes import pair
from tillhouse.db.constraints import taken, wrong_field
from tillhouse.http.route import Group
from tillhouse.messaging.attachments.pages import PAGES
from tillhouse.messaging.attachments.quota import ATTACHMENTS, SWEEP
from tillhouse.messaging.events import EVENTS
from tillhouse.messaging.hook_routes import HOOKS
from tillhouse.messaging.jobs import kinds
from tillhouse.messaging.routes import ROUTES
from tillhouse.messaging.storage.limits import COUNT, MESSAGES, retention
from tillhouse.messaging.store.conversations import CONVERSATION_TALLIES
from tillhouse.room import Room

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
        "message_storage",
        "messages",
        "messaging_attachments",
        "messaging_inboxes",
        "messaging_numbers",
        "messaging_presence",
        "messaging_storage",
        "messaging_turns",
        "quick_replies",
    ),
    swept_tables={"conversation_tally_changes": "tallies"},
    refusals=(
        wrong_field(
            "messages_book_id_attachment_id_fkey",
            "attachment_id",
            "is no attachment of this book",
        ),
        taken(
            "quick_replies_shortcut_key",
            "There is a quick reply of this shortcut already: choose another one.",
        ),
    ),
    jobs=kinds,
    chores=lambda services: (SWEEP, COUNT, retention(services)),
    stored=(ATTACHMENTS, MESSAGES),
    foldings=(CONVERSATION_TALLIES,),
)
