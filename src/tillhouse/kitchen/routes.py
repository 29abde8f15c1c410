"""The routes of the kitchen: the board, and what customers are told."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.errors import FieldError, check
from tillhouse.kit.partial import faults
from tillhouse.kitchen import actions, rules
from tillhouse.kitchen.types import StageMessage, StageMessages, TicketFilter, TicketShown


async def list_tickets(call: Call, query: TicketFilter) -> Reply[list[TicketShown]]:
    """List what the kitchen has to do, the oldest first, or with all=true every ticket."""
    found, page = await actions.list_tickets(call, query)
    return Reply("Kitchen tickets", found, meta=page)


async def show_ticket(call: Call, ticket_id: UUID) -> Reply[TicketShown]:
    """Read one kitchen ticket."""
    return Reply("Kitchen ticket", await actions.show_ticket(call, ticket_id))


async def list_stage_messages(call: Call) -> Reply[list[StageMessage]]:
    """List what customers are told at each stage."""
    return Reply("Stage messages", await actions.list_stage_messages(call))


async def set_stage_messages(call: Call, body: StageMessages) -> Reply[list[StageMessage]]:
    """Set what customers are told at the stages that are named."""
    check(_faults(body))
    return Reply("Stage messages set", await actions.set_stage_messages(call, body))


async def message_faults(call: Call, body: StageMessages) -> list[FieldError]:
    """The faults of the texts."""
    _ = call
    return _faults(body)


def _faults(body: StageMessages) -> list[FieldError]:
    return faults(lambda: rules.message_errors(body))


_READ = Scope("orders:read")
_WRITE = Scope("orders:write")
_TICKETS = "/v1/kitchen/tickets"
_MESSAGES = "/v1/kitchen/stage-messages"

ROUTES: tuple[Route, ...] = (
    Route("GET", _TICKETS, list_tickets, _READ),
    Route("GET", _TICKETS + "/{ticket_id}", show_ticket, _READ),
    Route("GET", _MESSAGES, list_stage_messages, _READ),
    Route("PUT", _MESSAGES, set_stage_messages, _WRITE, faults=message_faults),
)
