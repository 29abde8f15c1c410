"""Change a stay that isn't over: its days, its heads, its guest, its prices, its room."""

from datetime import date
from decimal import Decimal
from uuid import UUID

from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.hotel.rates.rules import Prices, read_prices, read_taxes
from tillhouse.hotel.reservations import change_rules as rules
from tillhouse.hotel.reservations.actions import lock_reservation, show
from tillhouse.hotel.reservations.rules import priced
from tillhouse.hotel.reservations.store import changing as store
from tillhouse.hotel.reservations.store.reading import shown
from tillhouse.hotel.reservations.types import Move, Reservation, ReservationPatch
from tillhouse.hotel.rooms.store import ROOMS, lock_type, update_dirty
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import BookKey
from tillhouse.kit.json import encode
from tillhouse.kit.partial import given
from tillhouse.kit.values import DayClock


async def change(call: Call, reservation_id: UUID, patch: ReservationPatch) -> Reservation:
    """Change the patch's fields; without another plan booked nights keep their prices."""
    before = await lock_reservation(call, reservation_id)
    rules.check_open(before)
    days = rules.wanted_days(before, patch)
    await lock_type(call.db, call.book.id, before.room_type_id)
    key = BookKey(call.book.id, reservation_id)
    facts = await _facts(call, key, days, patch)
    check(rules.patch_faults(before, patch, facts))
    rules.check_room_free(before, days, is_taken=facts.is_taken)
    rules.check_guest_free(before, patch, facts)
    row = _changed(before, patch, days, facts)
    after = shown(existing(await store.update_stay(call.db, key, row, call.now)))
    if changes := rules.told_changes(before, after):
        told = {"reservation_id": reservation_id, **changes}
        await audit.note(call, ("hotel_reservation.changed", "Stay changed"), told)
    return after


async def patch_faults(
    call: Call, reservation_id: UUID, patch: ReservationPatch
) -> list[FieldError]:
    """The faults of a change of a stay, if there is one."""
    before = await show(call, reservation_id)
    key = BookKey(call.book.id, reservation_id)
    return rules.patch_faults(before, patch, await _facts(call, key, rules.days_of(before), patch))


async def move_faults(call: Call, to: Move) -> list[FieldError]:
    """The fault of a room that isn't there."""
    found = await ROOMS.show(call.db, call.book.id, to.room_id)
    return [] if found else [rules.UNKNOWN_ROOM]


async def move(call: Call, reservation_id: UUID, to: Move) -> Reservation:
    """Give a stay another room, at the price that was booked."""
    before = await lock_reservation(call, reservation_id)
    rules.check_open(before)
    rooms = [before.room_id, to.room_id]
    await store.lock_types_of(call.db, call.book.id, rooms)
    found = await store.lock_rooms(call.db, call.book.id, reservation_id, rooms)
    target = next((rules.RoomOfMove(**row) for row in found if row["id"] == to.room_id), None)
    if target is None:
        check([rules.UNKNOWN_ROOM])
        raise AssertionError("an unknown room is a fault")
    rules.check_move(before, target, allows_dirty=to.allow_dirty)
    key = BookKey(call.book.id, reservation_id)
    moved = await store.update_room_of(call.db, key, target.id, target.room_type_id, call.now)
    if before.status == "checked_in":
        await update_dirty(call.db, BookKey(call.book.id, before.room_id), call.now)
    told = {
        "reservation_id": reservation_id,
        "from_room": before.room_number,
        "to_room": target.number,
        "reason": to.reason,
    }
    await audit.note(call, ("hotel_reservation.moved", "Stay moved to another room"), told)
    return shown(existing(moved))


async def _facts(
    call: Call, key: BookKey, days: tuple[date, date], patch: ReservationPatch
) -> rules.ChangeFacts:
    asked_for = given(patch, "rate_plan_id"), given(patch, "guest_id")
    named = store.ReservationChangeIds(*(None if one is UNSET else one for one in asked_for))
    row = await store.find_change_facts(call.db, key, *days, named)
    prices, asked = Prices(price=row["rate"], taxes=read_taxes(row["taxes"])), None
    if row["price"] is not None:
        prices = read_prices(row["price"], row["weekday_prices"], row["taxes"])
    if row["asked_price"] is not None:
        asked = read_prices(row["asked_price"], row["asked_weekday_prices"], row["asked_taxes"])
    elif named.rate_plan_id is None:
        asked = Prices(price=row["rate"])
    return rules.ChangeFacts(
        today=DayClock.at_midnight(row["time_zone"]).today(call.now),
        capacity=row["capacity"],
        is_taken=row["is_taken"],
        prices=prices,
        asked_prices=asked,
        guest_name=row["guest_name"],
        charged=row["charged"],
        has_folio=row["has_folio"],
    )


def _changed(
    before: Reservation, patch: ReservationPatch, days: tuple[date, date], facts: rules.ChangeFacts
) -> store.ChangedRow:
    prices, kept = rules.new_prices(before, patch, facts), rules.kept_nights(before, patch, facts)
    stay = priced(*days, prices, before.currency, kept)
    deposit = patch.deposit_amount
    guest_name = facts.guest_name if rules.has_other_guest(before, patch) else None
    return store.ChangedRow(
        check_in_on=stay.check_in,
        check_out_on=stay.check_out,
        nights=encode(stay.nights).decode(),
        total_amount=stay.total,
        adults=before.adults if patch.adults is UNSET else patch.adults,
        children=before.children if patch.children is UNSET else patch.children,
        notes=before.notes if patch.notes is UNSET else patch.notes,
        guest_id=before.guest_id if patch.guest_id is UNSET else patch.guest_id,
        guest_name=guest_name or before.guest_name,
        rate_plan_id=before.rate_plan_id if patch.rate_plan_id is UNSET else patch.rate_plan_id,
        taxes=encode(stay.taxes).decode(),
        deposit_amount=before.deposit_amount if deposit is UNSET else deposit or Decimal(0),
    )
