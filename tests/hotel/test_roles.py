"""The people of a hotel: what the desk and housekeeping do with a login of their role."""

import asyncpg

from tests.api import Api
from tests.hotel.house import HOTEL, STAYS, House


async def member(house: House, sql: asyncpg.Connection, role: str) -> Api:
    """The only member of the business, with another role from now on."""
    await sql.execute(
        "UPDATE members SET role = $2 WHERE business_id = $1::text::uuid", house.business.id, role
    )
    return Api(house.api.app, house.business.owner.headers | {"service-environment": "test"})


async def test_the_desk_sees_a_guest_through(house: House, sql: asyncpg.Connection) -> None:
    """From the booking to the check-out, with a charge to the room; prices are not its own."""
    desk = await member(house, sql, "front_desk")
    stay = (await desk.post(STAYS, house.stay(check_in=True), status=201)).data
    supper = {
        "items": [{"product_name": "Rice", "quantity": 1, "custom_price": 20}],
        "hotel_room_id": stay["roomId"],
        "service_mode": "room_service",
    }
    await desk.post("/v1/orders", supper, status=201)
    await desk.post(f"{STAYS}/{stay['id']}/payments", {"amount": 150, "method": "cash"}, status=201)
    await desk.post(f"{STAYS}/{stay['id']}/check-out", {}, status=200)
    back = {"amount": 30, "method": "cash"}
    await desk.post(f"{STAYS}/{stay['id']}/refunds", back, status=201)
    await desk.get(f"{HOTEL}/settings", status=200)
    await desk.patch(f"{HOTEL}/settings", {"no_show": "keep"}, status=403)
    await desk.patch(f"{HOTEL}/room-types/{house.room_type_id}", {"rate": 1}, status=403)
    await desk.patch(f"{HOTEL}/rooms/{stay['roomId']}", {"number": "7"}, status=403)
    await desk.get("/v1/finance/summary", status=403)


async def test_housekeeping_cleans_a_room(house: House, sql: asyncpg.Connection) -> None:
    """It sees which rooms are dirty, what is asked for, and nothing of guests beside the name."""
    stay = await house.book(check_in=True)
    path = f"{HOTEL}/rooms/{stay['roomId']}"
    await house.api.patch(path, {"status": "dirty", "notes": "A vase"}, status=200)
    wish = {"category": "housekeeping", "room_id": stay["roomId"]}
    asked = (await house.api.post(f"{HOTEL}/service-requests", wish, status=201)).data
    cleaner = await member(house, sql, "housekeeping")
    [room] = (await cleaner.get(f"{HOTEL}/rooms?status=dirty", status=200)).data
    assert (room["number"], room["guestName"]) == ("101", "Chinedu Eze")
    clean = (await cleaner.post(f"{path}/status", {"status": "clean"}, status=200)).data
    assert (clean["status"], clean["notes"]) == ("clean", "A vase")
    cleared = {"status": "clean", "notes": None}
    assert (await cleaner.post(f"{path}/status", cleared, status=200)).data["notes"] is None
    of_it = f"{HOTEL}/service-requests/{asked['id']}"
    assert (await cleaner.patch(of_it, {"status": "done"}, status=200)).data["status"] == "done"
    tap = {"category": "maintenance", "room_id": stay["roomId"], "description": "It drips."}
    await cleaner.post(f"{HOTEL}/service-requests", tap, status=201)
    for closed in (STAYS, f"{STAYS}/{stay['id']}/folio", f"{HOTEL}/guests", "/v1/orders"):
        await cleaner.get(closed, status=403)
    await cleaner.patch(path, {"number": "7"}, status=403)


async def test_an_occupied_room_stays_in_service(house: House) -> None:
    """As by a change of the room; a status that there is not is 422."""
    stay = await house.book(check_in=True)
    path = f"{HOTEL}/rooms/{stay['roomId']}/status"
    refused = await house.api.post(path, {"status": "out_of_service"}, status=400)
    assert "Move the stay first" in refused.json["message"]
    for body in ({}, {"status": "tidy"}, {"status": "clean", "number": "7"}):
        await house.api.post(path, body, status=422)
