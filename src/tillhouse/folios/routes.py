"""The routes of folios, check-out, night audits and the settings of a hotel."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.folios import audits, payments, reading
from tillhouse.folios.bills import actions as bills
from tillhouse.folios.check_out import check_out, undo_check_in
from tillhouse.folios.returning import actions as returning
from tillhouse.folios.types import CancelMeta, StayCancel, UnspentMoney
from tillhouse.hotel.reservations.types import Reservation
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.orders.receipts.rules import amount

_READ, _WRITE = Scope("hotel:read"), Scope("hotel:write")
# The desk takes money of stays, hands it back, and audits; the settings are not its own.
_DESK = Scope("hotel:write", roles=("front_desk",))
_STAY = "/v1/hotel/reservations/{reservation_id}"
_AUDITS, _SETTINGS = "/v1/hotel/audits", "/v1/hotel/settings"
_CANCELLED = "Reservation cancelled"


async def cancel(call: Call, reservation_id: UUID, how: StayCancel) -> Reply[Reservation]:
    """The cancelled reservation, and the fate of its unspent money."""
    done = await returning.cancel(call, reservation_id, how)
    money = UnspentMoney(returning_amount=done.returning, unspent_amount=done.unspent)
    left = f"{amount(done.unspent, done.currency)} {done.currency}"
    path = _STAY.format(reservation_id=reservation_id)
    words = f"{_CANCELLED}; {left} stay the guest's credit: hand them back by POST {path}/refunds"
    message = words if done.unspent else None
    return Reply(done.reservation, message=message, extra={"meta": money})


ROUTES: tuple[Route, ...] = (
    Route("GET", _STAY + "/folio", reading.show, _READ,
          "Read what a stay owes and what was paid for it", "Folio"),
    Route("POST", _STAY + "/payments", payments.record, _DESK,
          "Record a payment of a stay: a deposit, or for its orders", "Payment recorded",
          status=201, idempotent=True, faults=payments.new_faults),
    Route("POST", _STAY + "/refunds", returning.refund, _DESK,
          "Hand unspent money of a stay back, through its payment provider or otherwise",
          "Refund recorded",
          status=201, idempotent=True, faults=payments.new_faults),
    Route("POST", _STAY + "/bill", bills.make, _READ,
          "Make a bill of a stay as it stands; its address is good for seven days", "Bill",
          idempotent=True),
    Route("POST", _STAY + "/cancel", cancel, _DESK,
          "Cancel a reservation", _CANCELLED, idempotent=True, extra=CancelMeta),
    Route("POST", _STAY + "/check-out", check_out, _DESK,
          "Check a guest out, who owes nothing or leaves a debt", "Guest checked out",
          idempotent=True),
    Route("POST", _STAY + "/undo-check-in", undo_check_in, _DESK,
          "Take back that a guest moved in, before a night was charged", "Check-in taken back",
          idempotent=True),
    Route("GET", _AUDITS, audits.list_page, _READ,
          "List night audits, the newest day first", "Night audits"),
    Route("POST", _AUDITS, audits.run, _DESK,
          "Run the night audits that are due", "Night audits run",
          idempotent=True),
    Route("GET", _SETTINGS, audits.show_settings, _READ,
          "Read the settings of the hotel", "Hotel settings"),
    Route("PATCH", _SETTINGS, audits.change_settings, _WRITE,
          "Change the settings of the hotel", "Hotel settings changed"),
)  # fmt: skip
