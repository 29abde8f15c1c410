"""Tickets, and messages about their stages: the face of the room."""

from tillhouse.http.route import Group, Route, Scope
from tillhouse.kitchen import actions
from tillhouse.kitchen.events import EVENTS
from tillhouse.room import Room

_READ = Scope("orders:read", roles=("kitchen",))
_WRITE = Scope("orders:write")
_TICKETS = "/v1/kitchen/tickets"
_MESSAGES = "/v1/kitchen/stage-messages"

ROUTES: tuple[Route, ...] = (
    Route("GET", _TICKETS, actions.list_tickets, _READ,
          "List what the kitchen has to do, the oldest first, or with all=true every ticket",
          "Kitchen tickets"),
    Route("GET", _TICKETS + "/{ticket_id}", actions.show_ticket, _READ,
          "Read one kitchen ticket", "Kitchen ticket"),
    Route("GET", _MESSAGES, actions.list_stage_messages, _READ,
          "List what customers are told at each stage", "Stage messages"),
    Route("PUT", _MESSAGES, actions.set_stage_messages, _WRITE,
          "Set what customers are told at the stages that are named", "Stage messages set",
          faults=actions.message_faults),
)  # fmt: skip


ROOM = Room(
    name="kitchen",
    routes=ROUTES,
    groups=(
        Group(
            "/v1/kitchen",
            "Kitchen",
            "The board of tickets, and what customers are told at each stage.",
            "kitchen",
        ),
    ),
    events=EVENTS,
    kept_tables=("kitchen_tickets", "stage_messages"),
)
