"""Orders are charged to stays: to the right guest, and never once they are over."""

import asyncio
from typing import Any

from tests.hotel.house import House
from tests.make import Make

ORDERS = "/v1/orders"
GIFT = {"product_name": "Gift", "quantity": 1, "custom_price": 10}


async def _order(house: House, **fields: Any) -> dict[str, Any]:
    body = {"items": [GIFT], **fields}
    return (await house.api.post(ORDERS, body, status=201)).data


async def test_an_order_is_charged_to_a_stay(house: House) -> None:
    """By its id: the guest is the customer, the room is noted, and reading says the same."""
    stay = await house.book(1, 3)
    order = await _order(house, hotel_reservation_id=stay["id"])
    assert order["hotelReservationId"] == stay["id"]
    assert order["hotelRoomId"] == stay["roomId"]
    assert order["customer"]["id"] == stay["customerId"]
    assert order["tableLabel"] is None
    shown = (await house.api.get(f"{ORDERS}/{order['id']}", status=200)).data
    assert shown == order


async def test_an_order_is_charged_to_whoever_is_in_a_room(house: House) -> None:
    """Room service goes to the room; another customer may be named."""
    stay = await house.book(check_in=True)
    order = await _order(house, hotel_room_id=stay["roomId"], service_mode="room_service")
    assert (order["hotelReservationId"], order["tableLabel"]) == (stay["id"], "Room 101")
    other = await _order(house, hotel_room_id=stay["roomId"], customer_name="Bola")
    assert (other["customer"]["name"], other["hotelReservationId"]) == ("Bola", stay["id"])


async def test_a_preview_of_room_service_is_what_is_recorded(house: House) -> None:
    """By the stay and by its room: the same figures and lines, and no stay is charged by it."""
    stay = await house.book(check_in=True)
    items = [GIFT, {"product_name": "Breakfast", "quantity": 3, "custom_price": 12.35}]
    for where in ({"hotel_reservation_id": stay["id"]}, {"hotel_room_id": stay["roomId"]}):
        body = {"items": items, "discount_amount": 7.05, "service_mode": "room_service", **where}
        preview = (await house.api.post(f"{ORDERS}/preview", body, status=200)).data
        order = await _order(house, **body)
        lines = preview.pop("items")
        assert (preview["totalAmount"], preview["paymentStatus"]) == (40, "pending")
        assert preview == {name: order[name] for name in preview}
        assert lines == [{name: one[name] for name in lines[0]} for one in order["items"]]
    assert (await house.api.get(ORDERS, status=200)).json["meta"]["total"] == 2


async def test_an_empty_room_takes_no_order(house: House) -> None:
    """The refusal says what to do; so it does for a stay that is over."""
    stay = await house.book(1, 3)
    body = {"items": [GIFT], "hotel_room_id": stay["roomId"]}
    refused = await house.api.post(ORDERS, body, status=400)
    assert refused.error == "order_not_recorded"
    assert "No stay is checked in in room 101" in refused.json["message"]
    await house.act(stay, "cancel")
    body = {"items": [GIFT], "hotel_reservation_id": stay["id"]}
    refused = await house.api.post(ORDERS, body, status=400)
    assert refused.error == "order_not_recorded"
    assert "is cancelled" in refused.json["message"]


async def test_a_stay_of_somebody_else_is_unknown(house: House, make: Make) -> None:
    """Another business's, and a room that is not the stay's."""
    stay, other = await house.book(1, 3), await house.book(1, 3)
    stranger = await House.open(await make.business())
    for name, value in (("hotel_reservation_id", stay["id"]), ("hotel_room_id", stay["roomId"])):
        answer = await stranger.api.post(ORDERS, {"items": [GIFT], name: value}, status=422)
        assert answer.wrong_fields == {name}
    body = {"hotel_reservation_id": stay["id"], "hotel_room_id": other["roomId"]}
    answer = await house.api.post(ORDERS, {"items": [GIFT], **body}, status=422)
    assert answer.wrong_fields == {"hotel_room_id"}


async def test_no_order_comes_after_the_end(house: House) -> None:
    """Of orders and a cancellation at once each order is there before, or refused."""
    stay = await house.book(1, 3)
    body = {"items": [GIFT], "hotel_reservation_id": stay["id"]}
    ending = house.act(stay, "cancel")
    answers = await asyncio.gather(
        *(house.api.post(ORDERS, body) for _ in range(5)),
        ending,
        *(house.api.post(ORDERS, body) for _ in range(20)),
    )
    assert answers.pop(5).status == 200
    assert {answer.status for answer in answers} <= {201, 400}
    refused = [answer for answer in answers if answer.status == 400]
    assert {answer.error for answer in refused} <= {"order_not_recorded"}
    again = await house.api.post(ORDERS, body, status=400)
    assert again.error == "order_not_recorded"
