"""Room types and rooms: list, show, make, change and delete."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_terms, lock_book
from tillhouse.hotel.rooms import rules, store
from tillhouse.hotel.rooms.closing import vacate
from tillhouse.hotel.rooms.store import ROOM_TYPES, ROOMS
from tillhouse.hotel.rooms.types import (
    HotelRoom,
    NewRoom,
    NewRoomType,
    RoomFilter,
    RoomPatch,
    RoomStatusChange,
    RoomType,
    RoomTypeFilter,
    RoomTypePatch,
)
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.page import Deleted, PageOf
from tillhouse.kit.partial import InvalidField, facts_of, merged


async def list_types(call: Call, wanted: RoomTypeFilter) -> PageOf[RoomType]:
    """One page of the room types."""
    return await ROOM_TYPES.page(call.db, call.book.id, wanted.pick())


async def show_type(call: Call, room_type_id: UUID) -> RoomType:
    """One room type."""
    return existing(await ROOM_TYPES.show(call.db, call.book.id, room_type_id))


async def create_type(call: Call, new: NewRoomType) -> RoomType:
    """Make a room type."""
    check(await type_faults(call, new))
    await lock_book(call.db, call.book.id)
    if await ROOM_TYPES.count(call.db, call.book.id) >= rules.ROOM_TYPES_MAX:
        raise rules.TooManyTypes
    key = BookKey(call.book.id, new_id())
    await ROOM_TYPES.insert(call.db, key, facts_of(rules.RoomTypeFacts, new), call.now)
    return await show_type(call, key.id)


async def type_faults(call: Call, asked: NewRoomType | RoomTypePatch) -> list[FieldError]:
    """The faults of a room type, new or changed."""
    terms = await find_terms(call.db, call.book.id)
    return rules.room_type_faults(asked, terms.currency)


async def type_patch_faults(
    call: Call, room_type_id: UUID, patch: RoomTypePatch
) -> list[FieldError]:
    """The faults of a change of a room type, if there is one."""
    await show_type(call, room_type_id)
    return await type_faults(call, patch)


async def change_type(call: Call, room_type_id: UUID, patch: RoomTypePatch) -> RoomType:
    """Change the fields that the patch names; booked nights keep their price."""
    check(await type_faults(call, patch))
    await _lock_type(call, room_type_id)
    before = await show_type(call, room_type_id)
    old = facts_of(rules.RoomTypeFacts, before)
    facts = merged(old, patch)
    if facts == old:
        return before
    await ROOM_TYPES.update(call.db, BookKey(call.book.id, room_type_id), facts, call.now)
    return await show_type(call, room_type_id)


async def delete_type(call: Call, room_type_id: UUID) -> Deleted:
    """Take a room type that has no rooms out of the list."""
    await _lock_type(call, room_type_id)
    if (await show_type(call, room_type_id)).rooms_count:
        raise rules.HasRooms
    await ROOM_TYPES.delete(call.db, BookKey(call.book.id, room_type_id), call.now)
    return Deleted(room_type_id, iso(call.now))


async def _lock_type(call: Call, room_type_id: UUID) -> None:
    existing(await store.lock_type(call.db, call.book.id, room_type_id) or None)


async def list_rooms(call: Call, wanted: RoomFilter) -> PageOf[HotelRoom]:
    """One page of the rooms that fit."""
    narrowed = {"room_type_id": wanted.room_type_id, "status": wanted.status}
    return await ROOMS.page(call.db, call.book.id, wanted.pick(), **narrowed)


async def show_room(call: Call, room_id: UUID) -> HotelRoom:
    """One room."""
    return existing(await ROOMS.show(call.db, call.book.id, room_id))


async def create_room(call: Call, new: NewRoom) -> HotelRoom:
    """Add a room to the house."""
    await lock_book(call.db, call.book.id)
    if not await store.lock_type(call.db, call.book.id, new.room_type_id):
        check([rules.UNKNOWN_TYPE])
    if await ROOMS.count(call.db, call.book.id) >= rules.ROOMS_MAX:
        raise rules.TooManyRooms
    key = BookKey(call.book.id, new_id())
    facts = facts_of(rules.RoomFields, new)
    await ROOMS.insert(call.db, key, facts, call.now, new.room_type_id)
    return await show_room(call, key.id)


async def room_faults(call: Call, new: NewRoom) -> list[FieldError]:
    """The faults of a new room."""
    try:
        found = await ROOM_TYPES.show(call.db, call.book.id, new.room_type_id)
        return [] if found else [rules.UNKNOWN_TYPE]
    except InvalidField:
        return []


async def set_status(call: Call, room_id: UUID, change: RoomStatusChange) -> HotelRoom:
    """Say how a room is now."""
    return await change_room(call, room_id, RoomPatch(status=change.status, notes=change.notes))


async def change_room(call: Call, room_id: UUID, patch: RoomPatch) -> HotelRoom:
    """Change the fields that the patch names; a closed room gives its bookings to others."""
    if patch.status == "out_of_service":
        await store.lock_open_stays(call.db, call.book.id, room_id)
    before = await _lock_room(call, room_id)
    old = facts_of(rules.RoomFields, before)
    facts = merged(old, patch)
    if facts == old:
        return before
    if facts.status == "out_of_service" and old.status != facts.status:
        await vacate(call, before)
    await ROOMS.update(call.db, BookKey(call.book.id, room_id), facts, call.now)
    return await show_room(call, room_id)


async def delete_room(call: Call, room_id: UUID) -> Deleted:
    """Delete a room without bookings."""
    await _lock_room(call, room_id)
    if await store.has_open_reservation(call.db, call.book.id, room_id):
        raise rules.RoomHasReservations
    await ROOMS.delete(call.db, BookKey(call.book.id, room_id), call.now)
    return Deleted(room_id, iso(call.now))


async def _lock_room(call: Call, room_id: UUID) -> HotelRoom:
    """The room, locked against bookings, check-ins and changes."""
    found = await show_room(call, room_id)
    await store.lock_type(call.db, call.book.id, found.room_type_id)
    existing(await store.lock_room(call.db, call.book.id, room_id))
    return await show_room(call, room_id)
