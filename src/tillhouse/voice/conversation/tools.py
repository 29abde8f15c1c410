"""The tools of agents: actions of the business, each in a transaction of its own, and audited."""

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from asyncpg import Record

from tillhouse.access import audit
from tillhouse.access.call import Call, system_call
from tillhouse.access.callers import SystemCaller
from tillhouse.access.process import Services
from tillhouse.checkout.actions import create as create_link
from tillhouse.checkout.types import NewLink
from tillhouse.db.pool import Db
from tillhouse.kit.errors import Problem, Refused
from tillhouse.kit.ids import BookKey, CustomerId, NumberId, OrderId, new_id
from tillhouse.messaging.actions.messages import write
from tillhouse.messaging.rules import is_window_open
from tillhouse.messaging.sending import send
from tillhouse.messaging.types import MessageDraft, Number, QueuedMessage
from tillhouse.orders.changing.actions import confirm
from tillhouse.orders.deposits.beginning import following
from tillhouse.orders.types import Confirmation
from tillhouse.products.values import Price
from tillhouse.voice.agents.types import Script
from tillhouse.voice.conversation import stay_tools as stays
from tillhouse.voice.conversation import store
from tillhouse.voice.conversation.subject import CallSubject, Did, Used
from tillhouse.voice.suppression.store import SuppressionRow, insert_suppression

log = structlog.get_logger()

_OWING: frozenset[Script] = frozenset({"payment_reminder"})


async def use(services: Services, subject: CallSubject, tool: str) -> Used:
    """Use a tool, if the agent may; a refusal is a result, and both are in the audit log."""
    do = _TOOLS.get(tool)
    if do is None or tool not in subject.tools:
        return Used(False, f"{tool}: not among the agent's tools")
    try:
        async with services.pool.transaction() as db:
            call = _call(services, db, subject)
            did = await do(call, subject)
            await _note(call, subject, tool, did.used)
    except Problem as problem:
        return await refuse(services, subject, tool, problem.message)
    if did.after is not None:
        await _finish(did.after, subject)
    return did.used


async def refuse(services: Services, subject: CallSubject, tool: str, why: str) -> Used:
    """A tool that isn't used, noted in the audit log."""
    used = Used(False, f"{tool}: {why}")
    async with services.pool.transaction() as db:
        await _note(_call(services, db, subject), subject, tool, used)
    return used


def _call(services: Services, db: Db, subject: CallSubject) -> Call:
    call = system_call(services, db, subject.business_id, subject.book)
    call.caller = SystemCaller(subject.agent_name)
    return call


async def _finish(after: Callable[[], Awaitable[Any]], subject: CallSubject) -> None:
    try:
        await after()
    except (Problem, OSError, TimeoutError) as error:
        # A worker of the queue does the same later.
        log.warning("voice_tool_not_finished", call=str(subject.call.id), error=str(error)[:200])


async def _note(call: Call, subject: CallSubject, tool: str, used: Used) -> None:
    metadata = {
        "callId": str(subject.call.id),
        "tool": tool,
        "done": used.is_done,
        "environment": subject.book.environment,
    }
    if used.order_id is not None:
        metadata["orderId"] = str(used.order_id)
    if used.reservation_id is not None:
        metadata["reservationId"] = str(used.reservation_id)
    await audit.note(call, ("voice_tool.used", f"In a call: {used.told}"), metadata)


async def _find_order(call: Call, subject: CallSubject) -> Did:
    """The order that the call names, or the customer's latest one that fits the script."""
    row = await _order(call, subject)
    if row is None:
        return Did(Used(False, "find_order: there is none that fits"))
    words = {
        "order": row["short_code"],
        "summary": row["summary"],
        "total": f"{row['total_amount']:f} {row['currency']}",
        "outstanding": f"{row['remaining_amount']:f} {row['currency']}",
    }
    return Did(Used(True, f"find_order: {row['short_code']}", words, OrderId(row["id"])))


async def _order(call: Call, subject: CallSubject) -> Record | None:
    if subject.order_id is not None:
        return await store.find_order(call.db, call.book.id, subject.order_id)
    find = store.find_owing if subject.script in _OWING else store.find_scheduled
    return await find(call.db, call.book.id, subject.phone)


async def _confirm_order(call: Call, subject: CallSubject) -> Did:
    """Make a scheduled order a sale; no payment is taken on the telephone."""
    row = await _order(call, subject)
    if row is None:
        raise Refused("There is no order to confirm.")
    paid = Confirmation(amount_paid=Price(row["amount_paid"]))
    order = await confirm(call, OrderId(row["id"]), paid)
    used = Used(
        True, f"confirm_order: {order.short_code}", {"order": order.short_code}, OrderId(order.id)
    )
    return Did(used, following(call, order))


async def _send_payment_link(call: Call, subject: CallSubject) -> Did:
    """A link for the debt of the order, in a message to the number that was called."""
    row = await _order(call, subject)
    if row is None:
        raise Refused("There is no order to be paid.")
    writing = await store.find_writing(call.db, call.book.id, subject.phone)
    if writing is None:
        raise Refused("There is no number to write from.")
    if writing["provider"] == "whatsapp" and not is_window_open(
        writing["last_received_at"], call.now
    ):
        raise Refused("The customer has not written lately, so that WhatsApp takes no free text.")
    link, _ = await create_link(call, NewLink(target_type="sale", target_id=row["id"]))
    customer_id = writing["customer_id"]
    draft = MessageDraft(
        phone=subject.phone,
        text=f"Pay {link.amount:f} {link.currency} for order {row['short_code']}: {link.url}",
        customer_id=CustomerId(customer_id) if customer_id else None,
        # The same link is sent once in a call, however often it is asked for.
        purpose=f"voice:{subject.call.id}",
    )
    number = Number(NumberId(writing["number_id"]), writing["provider"])
    written = await write(call, number, draft)
    used = Used(True, f"send_payment_link: {row['short_code']}", {}, OrderId(row["id"]))
    sending = written.sending if written else None
    return Did(used, _sender(call.services, sending) if sending else None)


def _sender(services: Services, sending: QueuedMessage) -> Callable[[], Awaitable[Any]]:
    async def after() -> None:
        await send(services, sending)

    return after


async def _record_opt_out(call: Call, subject: CallSubject) -> Did:
    """Call this number no more."""
    row = SuppressionRow(
        phone_number=subject.phone,
        reason="opt_out",
        note=None,
        call_id=subject.call.id,
        created_by_name=subject.agent_name,
    )
    await insert_suppression(call.db, BookKey(call.book.id, new_id()), row, call.now)
    return Did(Used(True, f"record_opt_out: {subject.phone}"))


_TOOLS: dict[str, Callable[[Call, CallSubject], Awaitable[Did]]] = {
    "find_order": _find_order,
    "send_payment_link": _send_payment_link,
    "confirm_order": _confirm_order,
    "find_reservation": stays.find_reservation,
    "confirm_reservation": stays.confirm_reservation,
    "cancel_reservation": stays.cancel_reservation,
    "note_service_request": stays.note_service_request,
    "record_opt_out": _record_opt_out,
}
