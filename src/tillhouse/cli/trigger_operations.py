"""The operation by which each event of the catalogue happens: a real one, in the test book."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from secrets import randbelow, token_hex
from typing import Any
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.cli.output import CommandError
from tillhouse.cli.triggering import Desk
from tillhouse.jobs.kinds import Kind
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.values import DayClock

# Paid into the wallet, and withdrawn from it.
PAID, WITHDRAWN = 250, 100
_LOW, _THRESHOLD = 4, 5

Operation = Callable[[Desk], Awaitable[object]]


def operation_of(event: str) -> Operation | None:
    """The operation that lets an event happen; None when there is none."""
    return next((do for start, do in _OPERATIONS.items() if event.startswith(start)), None)


def _phone() -> str:
    """The number of a customer who is new, most likely."""
    return f"+2348{randbelow(10**9):09}"


async def _change_a_customer(desk: Desk) -> None:
    customer = await desk.do("POST /v1/customers", {"name": "Test customer"})
    notes = {"notes": "Changed by tillhouse trigger"}
    await desk.do("PATCH /v1/customers/{customer_id}", notes, customer.id)


async def _change_a_product(desk: Desk) -> None:
    product = await desk.do("POST /v1/products", {"name": "Test product", "base_price": 10})
    await desk.do("PATCH /v1/products/{product_id}", {"base_price": 11}, product.id)
    await desk.do("DELETE /v1/products/{product_id}", None, product.id)


async def _run_out_of_stock(desk: Desk) -> None:
    kept = {"tracks_stock": True, "low_stock_threshold": _THRESHOLD}
    new = {"name": "Test product", "base_price": 10, **kept}
    product = await desk.do("POST /v1/products", new)
    changes = (("opening", 10), ("adjustment", _LOW - 10), ("adjustment", -_LOW))
    for kind, quantity in changes:
        change = {"variant_id": str(product.variants[0].id), "kind": kind, "quantity": quantity}
        await desk.do("POST /v1/inventory/adjustments", change)
    await desk.do("DELETE /v1/products/{product_id}", None, product.id)


async def _record_an_order(desk: Desk) -> Any:
    line = {"product_name": "Test dish", "quantity": 1, "custom_price": 10}
    return await desk.do("POST /v1/orders", {"items": [line], "send_to_kitchen": False})


async def _change_an_order(desk: Desk) -> None:
    order = await _record_an_order(desk)
    await desk.do("PATCH /v1/orders/{order_id}", {"customer_name": "Test customer"}, order.id)


async def _cancel_an_order(desk: Desk) -> None:
    order = await _record_an_order(desk)
    change = {"status": "cancelled", "cancellation_reason": "Cancelled by tillhouse trigger"}
    await desk.do("PATCH /v1/orders/{order_id}", change, order.id)


async def _cook_an_order(desk: Desk) -> None:
    order = await _record_an_order(desk)
    await desk.do("POST /v1/orders/{order_id}/send-to-kitchen", None, order.id)
    stage = {"status": "preparing"}
    await desk.do("POST /v1/orders/{order_id}/kitchen-status", stage, order.id)


async def _run_job(
    desk: Desk, kinds: Callable[[Services], Sequence[Kind]], kind: str, subject: UUID, key: str = ""
) -> None:
    """Do a job at once that an operation has queued."""
    runner = JobRunner(desk.services.pool, kinds(desk.services), desk.services.job_results)
    async with desk.services.pool.reading() as db:
        book_id = (await desk.call(db)).book.id
    await runner.run_now(kind, book_id, subject, key=key)


async def _pay_a_link(desk: Desk, case: str = "exact") -> None:
    from tillhouse.checkout.pages import pay_simulated  # noqa: PLC0415

    link = await desk.do(
        "POST /v1/payment-links/wallet/dynamic", {"title": "Test payment", "amount": PAID}
    )
    await pay_simulated(desk.services, link.reference, case)


async def _dispute_a_payment(desk: Desk) -> None:
    await _pay_a_link(desk, "disputed")
    dispute = (await desk.do("GET /v1/disputes"))[0]
    from tillhouse.folios.jobs import kinds  # noqa: PLC0415
    from tillhouse.payins.events import PAYIN_DISPUTE  # noqa: PLC0415

    # The job of its first change.
    await _run_job(desk, kinds, PAYIN_DISPUTE, dispute.id, key="1")


async def _give_a_deposit_back(desk: Desk) -> None:
    from tillhouse.checkout.pages import pay_simulated  # noqa: PLC0415
    from tillhouse.folios.returning.sending import SENDS, kinds  # noqa: PLC0415

    # Of a payment into the wallet, too: the fee of the deposit stays with the provider.
    await _pay_a_link(desk)
    stay = await _book_a_room(desk, deposit_amount=10)
    wanted = {"target_type": "reservation", "target_id": str(stay.id)}
    link = await desk.do("POST /v1/payment-links", wanted)
    await pay_simulated(desk.services, link.reference, "exact")
    path = "POST /v1/hotel/reservations/{reservation_id}/refunds"
    folio = await desk.do(path, {"amount": 10, "method": "cloove_pay"}, stay.id)
    await _run_job(desk, kinds, SENDS, folio.refunds[-1].id)


async def _hear_a_customer(desk: Desk) -> Any:
    said = {"from": _phone(), "text": "Is my order ready?"}
    return await desk.do("POST /v1/messaging/sandbox/inbound", said)


async def _answer_a_customer(desk: Desk) -> None:
    heard = await _hear_a_customer(desk)
    answer = {"text": "It is ready."}
    path = "POST /v1/conversations/{conversation_id}/messages"
    await desk.do(path, answer, heard.conversation_id)


async def _assign_a_conversation(desk: Desk) -> None:
    heard = await _hear_a_customer(desk)
    async with desk.services.pool.transaction() as db:
        call = await desk.call(db)
        owner_id = str(call.user.user_id)
        path = "PATCH /v1/conversations/{conversation_id}"
        # The inbox may have assigned it meanwhile: then the change removes its assignee.
        reply = await desk.within(call, path, {}, heard.conversation_id)
        change = {"assignee_id": None if reply.data.assignee else owner_id}
        await desk.within(call, path, change, heard.conversation_id)


async def _account(desk: Desk) -> str:
    """An account that is paid out to now: in a test book none waits."""
    for account in await desk.do("GET /v1/payout-accounts"):
        if account.status == "active" and account.usable_at is not None:
            return str(account.id)
    new = {"bank_code": "001", "account_number": "0123456789"}
    account = await desk.do("POST /v1/payout-accounts", new)
    if account.status != "active":
        raise CommandError(f"The test book has no payout account: {account.error or 'try again'}.")
    return str(account.id)


async def _withdraw(desk: Desk) -> None:
    await _pay_a_link(desk)
    new = {"amount": WITHDRAWN, "payout_account_id": await _account(desk)}
    withdrawal = await desk.do("POST /v1/wallet/withdrawals", new)
    from tillhouse.payouts.freezing.actions import WITHDRAWAL  # noqa: PLC0415
    from tillhouse.payouts.room import kinds  # noqa: PLC0415

    await _run_job(desk, kinds, WITHDRAWAL, withdrawal.id)


async def _take_a_withdrawal_back(desk: Desk) -> None:
    """Request and cancel in one transaction: a worker would send it in between.

    One that the provider refuses would count among the failures that freeze withdrawals.
    """
    await _pay_a_link(desk)
    new = {"amount": WITHDRAWN, "payout_account_id": await _account(desk)}
    async with desk.services.pool.transaction() as db:
        call = await desk.call(db)
        reply = await desk.within(call, "POST /v1/wallet/withdrawals", new)
        path = "POST /v1/wallet/withdrawals/{withdrawal_id}/cancel"
        await desk.within(call, path, None, reply.data.id)


async def _book_a_room(desk: Desk, **more: Any) -> Any:
    """A room of a new kind, from today to tomorrow: it has no other bookings."""
    from tillhouse.access.store.businesses import find_terms  # noqa: PLC0415

    async with desk.services.pool.transaction() as db:
        call = await desk.call(db)
        zone = (await find_terms(db, call.book.id)).time_zone
        today = DayClock.at_midnight(zone).today(call.now)
    name = f"Test {token_hex(4)}"
    kind = {"name": name, "capacity": 2, "rate": 10}
    room_type = await desk.do("POST /v1/hotel/room-types", kind)
    await desk.do("POST /v1/hotel/rooms", {"room_type_id": str(room_type.id), "number": name})
    stay = {
        "room_type_id": str(room_type.id),
        "guest": {"name": "Test guest"},
        "check_in_date": today.isoformat(),
        "check_out_date": (today + timedelta(days=1)).isoformat(),
    }
    return await desk.do("POST /v1/hotel/reservations", {**stay, **more})


async def _cancel_a_reservation(desk: Desk) -> None:
    stay = await _book_a_room(desk)
    path = "POST /v1/hotel/reservations/{reservation_id}/cancel"
    await desk.do(path, {"reason": "Cancelled by tillhouse trigger"}, stay.id)


async def _check_out(desk: Desk) -> None:
    stay = await _book_a_room(desk, check_in=True)
    of_stay = "POST /v1/hotel/reservations/{reservation_id}/"
    await desk.do(of_stay + "payments", {"amount": 10, "method": "cash"}, stay.id)
    await desk.do(of_stay + "check-out", {}, stay.id)


async def _ask_for_service(desk: Desk) -> None:
    stay = await _book_a_room(desk, check_in=True)
    wish = {"category": "housekeeping", "description": "Towels", "source": "guest"}
    await desk.do("POST /v1/hotel/service-requests", {**wish, "room_id": str(stay.room_id)})


async def _change_an_agent(desk: Desk) -> None:
    from tillhouse.voice import demonstrating  # noqa: PLC0415

    async with desk.services.pool.transaction() as db:
        await demonstrating.change_an_agent(await desk.call(db))


async def _call_somebody(desk: Desk) -> None:
    from tillhouse.voice.demonstrating import ANSWERED  # noqa: PLC0415

    await _make_a_call(desk, ANSWERED)


async def _call_a_busy_number(desk: Desk) -> None:
    from tillhouse.voice.demonstrating import BUSY  # noqa: PLC0415

    await _make_a_call(desk, BUSY)


async def _make_a_call(desk: Desk, phone: str) -> None:
    from tillhouse.voice import demonstrating  # noqa: PLC0415

    async with desk.services.pool.transaction() as db:
        intent = await demonstrating.intend_a_call(await desk.call(db), phone)
    await demonstrating.make_the_call(desk.services, intent)


# By the beginning of an event's name: the first that fits.
_OPERATIONS: dict[str, Operation] = {
    "contact.": _change_a_customer,
    "hotel.reservation.cancelled": _cancel_a_reservation,
    "hotel.reservation.checked_in": partial(_book_a_room, check_in=True),
    "hotel.reservation.checked_out": _check_out,
    "hotel.reservation.created": _book_a_room,
    "hotel.service_request.": _ask_for_service,
    "inventory.": _run_out_of_stock,
    "kitchen_ticket.": _cook_an_order,
    "messaging.conversation.assigned": _assign_a_conversation,
    "messaging.message.received": _hear_a_customer,
    "messaging.message.": _answer_a_customer,
    "order.created": _record_an_order,
    "order.updated": _change_an_order,
    "order.cancelled": _cancel_an_order,
    "payment.disputed": _dispute_a_payment,
    "payment.received": _pay_a_link,
    "payment.refunded": _give_a_deposit_back,
    "product.": _change_a_product,
    "voice.agent.": _change_an_agent,
    "voice.call.failed": _call_a_busy_number,
    "voice.": _call_somebody,
    "wallet.deposit": _pay_a_link,
    "wallet.withdrawal.failed": _take_a_withdrawal_back,
    "wallet.withdrawal.": _withdraw,
}
