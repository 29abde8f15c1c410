"""Tickets: opened, moved, closed; and customers told of it.

The room of orders calls these, each inside its own transaction, and `send` after the commit:

    ticket = await open_ticket(call, sale)
    told = await tell(call, ticket, "queued", sale)      # told.notification, told.sending

    moved = await move(call, ticket_id, "ready")
    told = await tell(call, moved.ticket, "ready", sale, is_changed=moved.is_changed)

    notification = told.notification
    if told.sending:                                     # in Reply.after
        notification = await send(services, told.sending)

    await close(call, order_id)                          # cancelled or deleted
    await reopen(call, order_id)                         # no longer cancelled
"""

from functools import partial

import structlog

from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.db.connecting import FAILURES
from tillhouse.db.where import rows_of
from tillhouse.kit.errors import FieldError, Unavailable, check, existing
from tillhouse.kit.ids import BookKey, OrderId, TicketId, new_id
from tillhouse.kit.page import PageOf, meta
from tillhouse.kit.partial import faults
from tillhouse.kitchen import events, rules, store
from tillhouse.kitchen.types import (
    STAGES,
    STATION,
    CustomerNotice,
    MovedTicket,
    Notification,
    NotificationSending,
    Reason,
    SaleFacts,
    Stage,
    StageMessage,
    StageMessages,
    Ticket,
    TicketFilter,
    TicketShown,
)
from tillhouse.messaging import sending as messages
from tillhouse.messaging.actions.messages import WrittenMessage, write
from tillhouse.messaging.rules import is_window_open
from tillhouse.messaging.types import MessageDraft, Number
from tillhouse.providers.messaging.provider import Template
from tillhouse.webhooks.emit import emit

log = structlog.get_logger()


async def open_ticket(call: Call, sale: SaleFacts, station: str = STATION) -> Ticket:
    """Send an order to the kitchen; `AlreadyInKitchen` (409) when it is there."""
    ticket = Ticket(id=TicketId(new_id()), order_id=sale.order_id, station=station, status="queued")
    key = BookKey(call.book.id, ticket.id)
    if not await store.insert_ticket(call.db, key, sale.order_id, station, call.now):
        raise rules.AlreadyInKitchen
    await emit(call, *events.ticket_created(call, ticket, sale.store_id))
    return ticket


async def find(call: Call, order_id: OrderId, station: str = STATION) -> Ticket | None:
    """The ticket of an order."""
    row = await store.find_ticket(call.db, call.book.id, order_id, station)
    return Ticket(**row) if row else None


async def move(call: Call, ticket_id: TicketId, stage: Stage) -> MovedTicket:
    """Set the stage of a ticket: two at once make one change and one event.

    A ticket that stands there already is left as it is; one that is closed is refused (400).
    """
    row = existing(await store.update_stage(call.db, call.book.id, ticket_id, stage, call.now))
    if row["is_closed"]:
        raise rules.TicketClosed
    ticket = Ticket(id=row["id"], order_id=row["order_id"], station=row["station"], status=stage)
    if row["is_moved"]:
        await emit(call, *events.ticket_moved(call, ticket, row["store_id"], row["status"]))
    return MovedTicket(ticket, row["status"], is_changed=row["is_moved"])


async def close(call: Call, order_id: OrderId) -> None:
    """Take an order's tickets from the board: it was cancelled or deleted."""
    await store.end_tickets(call.db, call.book.id, order_id, call.now)


async def reopen(call: Call, order_id: OrderId) -> None:
    """Bring an order's tickets back to the board: it is no longer cancelled."""
    await store.open_tickets(call.db, call.book.id, order_id, call.now)


async def tell(
    call: Call,
    ticket: Ticket,
    stage: Stage,
    sale: SaleFacts | None,
    *,
    is_changed: bool = True,
) -> CustomerNotice:
    """Tell the customer of a stage, or why not; `sale` is None when the order can't be loaded."""
    if not is_changed:
        # Nothing else needs to be known.
        return _not_told("status_unchanged")
    purpose = rules.purpose(ticket, stage)
    phone = sale.customer_phone if sale else None
    row = await store.find_telling(call.db, call.book.id, stage, purpose, phone)
    assert row is not None, "a caller has a book"  # noqa: S101
    telling = rules.Telling(
        is_changed=is_changed,
        is_enabled=row["is_enabled"],
        was_told=row["was_told"],
        # The schema knows no ticket without an order.
        has_order=True,
        sale=sale,
        has_number=row["number_id"] is not None,
        text=rules.rendered(row["text"], sale),
    )
    reason = rules.reason_against(telling)
    if reason is not None:
        return _not_told(reason)
    assert sale is not None, "the rules have seen to it"  # noqa: S101
    template = None
    if row["template_name"] and not is_window_open(row["last_received_at"], call.now):
        filled = rules.parameters(row["text"], sale)
        template = Template(row["template_name"], row["template_language"], filled)
    draft = MessageDraft(
        phone=str(phone),
        text=telling.text,
        customer_id=sale.customer_id,
        template=template,
        purpose=purpose,
    )
    written = await write(call, Number(row["number_id"], row["provider"]), draft)
    return _told(written, draft, sale)


def _told(written: WrittenMessage | None, draft: MessageDraft, sale: SaleFacts) -> CustomerNotice:
    if written is None:
        # Another request was faster.
        return _not_told("already_sent")
    if written.status == "failed":
        return CustomerNotice(Notification(status="failed", reason="whatsapp_send_failed"))
    notification = Notification(
        status="sent",
        message_id=written.message_id,
        customer_name=sale.customer_name,
        customer_phone=draft.phone,
    )
    return CustomerNotice(
        notification,
        NotificationSending(written.sending, notification) if written.sending else None,
    )


async def send(services: Services, sending: NotificationSending) -> Notification:
    """Ask the provider, outside of any transaction; the result as the caller hears it."""
    try:
        status = await messages.send(services, sending.message)
    except (*FAILURES, Unavailable) as error:
        # The message is kept: a worker sends it, or finds out its fate.
        log.warning("stage_message_not_sent", error=type(error).__name__)
        return sending.notification
    if status == "failed":
        return Notification(status="failed", reason="whatsapp_send_failed")
    if status == "unknown":
        return Notification(status="failed", reason="notification_error")
    return sending.notification


def _not_told(reason: Reason) -> CustomerNotice:
    return CustomerNotice(Notification(status="skipped", reason=reason))


async def list_tickets(call: Call, wanted: TicketFilter) -> PageOf[TicketShown]:
    """The board, or the history: one page of it."""
    page = wanted.pick()
    book_id = call.book.id
    count, list_rows = store.count_open, store.list_open
    if wanted.all:
        count, list_rows = store.count_history, store.list_history
    total = await count(call.db, book_id, wanted)
    listed = partial(list_rows, call.db, book_id, call.now, wanted)
    return PageOf(await rows_of(listed, page, total), meta(page, total))


async def show_ticket(call: Call, ticket_id: TicketId) -> TicketShown:
    """One ticket."""
    return existing(await store.show_ticket(call.db, call.book.id, call.now, ticket_id))


async def list_stage_messages(call: Call) -> list[StageMessage]:
    """The message of each stage, a suggestion where there is no text."""
    written = {m.stage: m for m in await store.list_stage_messages(call.db, call.book.id)}
    return [written.get(stage) or _suggested(stage) for stage in STAGES]


def _suggested(stage: Stage) -> StageMessage:
    text = rules.SUGGESTED[stage]
    return StageMessage(stage=stage, is_sent=False, text=text, template=None, updated_at=None)


async def message_faults(_call: Call, asked: StageMessages) -> list[FieldError]:
    """The faults of the texts."""
    return faults(lambda: rules.message_errors(asked))


async def set_stage_messages(call: Call, asked: StageMessages) -> list[StageMessage]:
    """Set the messages to customers of the named stages."""
    check(await message_faults(call, asked))
    rows = [
        store.StageRow(
            message.stage,
            message.is_sent,
            str(message.text),
            message.template.name if message.template else None,
            message.template.language if message.template else None,
        )
        for message in asked.messages
    ]
    await store.upsert_stage_messages(call.db, call.book.id, rows, call.now)
    return await list_stage_messages(call)
