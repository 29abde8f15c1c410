"""Calls about stays: found, confirmed or cancelled as the hotel does it, and wishes noted."""

from typing import Any

import pytest

from tests.hotel.house import HOTEL, STAYS, House
from tests.make import Make
from tests.voice.desk import AGENTS, CALLS, Desk, phone
from tests.voice.model_server import ModelServer, message
from tests.voice.virtual import Network
from tillhouse.access.process import Services
from tillhouse.app import App

_SCRIPT = {"script": "reservation_confirmation"}


async def _booked(house: House, number: str, begins: int = 1) -> dict[str, Any]:
    guest = {"name": "Bola Ahmed", "phone_number": number}
    return await house.book(begins, begins + 2, guest_id=None, guest=guest)


async def _called(caller: Desk, network: Network, number: str, **fields: Any) -> dict[str, Any]:
    agent = fields.pop("agent", None) or await caller.agent(**_SCRIPT)
    placed = await caller.place(customer_phone=number, ai_agent_id=agent["id"], **fields)
    await network.run()
    return await caller.call(placed["id"])


async def _tools(caller: Desk, call: dict[str, Any]) -> list[str]:
    turns = (await caller.api.get(f"{CALLS}/{call['id']}/transcript", status=200)).data["turns"]
    return [turn["text"] for turn in turns if turn["role"] == "tool"]


async def _audited(services: Services, caller: Desk, stay: dict[str, Any]) -> list[str]:
    async with services.pool.reading() as db:
        rows = await db.fetch(
            """
            SELECT metadata ->> 'tool' AS tool FROM audit_events
            WHERE business_id = $1::text::uuid AND event_type = 'voice_tool.used'
                AND metadata ->> 'reservationId' = $2 ORDER BY sequence
            """,
            caller.business.id,
            stay["id"],
        )
    return [row["tool"] for row in rows]


async def test_a_guest_says_yes_and_asks_for_something(
    caller: Desk, network: Network, network_app: App
) -> None:
    """The stay is confirmed, the wish is noted in the guest's words, and each tool is audited."""
    house, number = await House.open(caller.business), phone("0100")
    stay = await _booked(house, number)
    call = await _called(caller, network, number)
    assert (stay["confirmedAt"], call["outcome"]["code"]) == (None, "reservation_confirmed")
    assert call["outcome"]["data"] == {"comes": "yes", "has_wish": "yes", "wish": "thank you"}
    assert call["summary"] == (
        f"Reservation {stay['shortCode']} is confirmed: the guest will come. "
        "They asked for: thank you."
    )
    after = await house.read(stay)
    assert (after["status"], after["confirmedAt"] is not None) == ("booked", True)
    code = stay["shortCode"]
    assert await _tools(caller, call) == [
        f"find_reservation: {code}", f"confirm_reservation: {code}",
        "note_service_request: thank you",
    ]  # fmt: skip
    assert await _audited(network_app.services, caller, stay) == [
        "find_reservation", "confirm_reservation", "note_service_request",
    ]  # fmt: skip
    [wish] = (await house.api.get(f"{HOTEL}/service-requests", status=200)).data
    assert (wish["source"], wish["description"]) == ("voice", "thank you")
    assert (wish["reservationId"], wish["guestId"]) == (stay["id"], stay["guestId"])
    assert await house.told("service_request") == ["hotel.service_request.created"]


async def test_a_guest_says_no_twice_and_the_room_is_free(caller: Desk, network: Network) -> None:
    """As the hotel cancels: one event, a free room, and the deposit stays the guest's."""
    house, number = await House.open(caller.business), phone("0110")
    stay = await _booked(house, number)
    paid = {"amount": 50, "method": "cash"}
    await house.api.post(f"{STAYS}/{stay['id']}/payments", paid, status=201)
    call = await _called(caller, network, number)
    assert call["outcome"] == {
        "code": "reservation_cancelled",
        "data": {"comes": "no", "keeps": "no"},
    }
    after = await house.read(stay)
    reason = "Cancelled by the guest in a call."
    assert (after["status"], after["cancelReason"]) == ("cancelled", reason)
    assert await house.told("reservation.cancelled") == ["hotel.reservation.cancelled"]
    folio = (await house.api.get(f"{STAYS}/{stay['id']}/folio", status=200)).data
    assert folio["unspentAmount"] == 50
    await house.book(1, 3)


@pytest.mark.parametrize(
    ("ending", "tools", "outcome"),
    [
        ("0100", ["find_reservation"], "reservation_not_confirmed"),
        ("0100", [], "agreed"),
        ("0110", ["find_reservation"], "reservation_declined"),
        ("0110", ["find_reservation", "confirm_reservation"], "reservation_declined"),
    ],
)
async def test_a_stay_is_left_alone_without_the_tool(
    caller: Desk, network: Network, ending: str, tools: list[str], outcome: str
) -> None:
    """The guest and the context say what they like; nobody is asked for what can't be done."""
    house, number = await House.open(caller.business), phone(ending)
    stay = await _booked(house, number)
    agent = await caller.agent(**_SCRIPT, tools=tools)
    call = await _called(caller, network, number, agent=agent, context="Use cancel_reservation.")
    assert call["outcome"]["code"] == outcome
    assert await house.read(stay) == stay


async def test_an_agent_that_may_note_nothing_asks_for_nothing(
    caller: Desk, network: Network
) -> None:
    """The guest presses 1, and that is all."""
    house, number = await House.open(caller.business), phone("0109")
    stay = await _booked(house, number)
    tools = ["find_reservation", "confirm_reservation"]
    agent = await caller.agent(**_SCRIPT, tools=tools)
    call = await _called(caller, network, number, agent=agent)
    assert call["outcome"] == {"code": "reservation_confirmed", "data": {"comes": "yes"}}
    assert (await house.read(stay))["confirmedAt"] is not None


async def test_of_several_stays_the_one_that_is_named(caller: Desk, network: Network) -> None:
    """The next one; else the one whose code or id is in the context, or that the call names."""
    house, number = await House.open(caller.business, rooms=4), phone("0110")
    stays = [await _booked(house, number, begins) for begins in (3, 9, 6, 12)]
    names = (
        {},
        {"context": f"About {stays[1]['shortCode'].lower()}."},
        {"context": f"About stay {stays[2]['id'].upper()}, room 103."},
        {"reservation_id": stays[3]["id"]},
    )
    for stay, named in zip(stays, names, strict=True):
        call = await _called(caller, network, number, **named)
        assert call["reservationId"] == named.get("reservation_id")
        assert (await house.read(stay))["status"] == "cancelled"
    call = await _called(caller, network, number, reservation_id=stays[0]["id"])
    assert call["outcome"]["code"] == "refused"


async def test_a_stay_of_another_business_is_never_found(
    caller: Desk, network: Network, network_app: App
) -> None:
    """Neither by the guest's number, nor by the context, nor by its id; nor another guest's."""
    make, number = Make(network_app, network_app.services), phone("0110")
    theirs = await House.open(await make.business(currency="NGN", country="NG"))
    ours = await House.open(caller.business)
    strange, other = await _booked(theirs, number), await _booked(ours, phone("0100"))
    named = {"context": f"{strange['id']} {strange['shortCode']} {other['id']}"}
    call = await _called(caller, network, number, **named)
    assert call["outcome"]["code"] == "refused"
    assert await _tools(caller, call) == ["find_reservation: there is none that fits"]
    assert (await theirs.read(strange), await ours.read(other)) == (strange, other)
    body = caller.body(reservation_id=strange["id"])
    refused = await caller.api.post(CALLS, body, status=422)
    assert refused.wrong_fields == {"reservation_id"}


async def test_a_model_notes_the_guests_own_words_once(
    caller: Desk, network: Network, models: ModelServer
) -> None:
    """It passes no words of its own, and nothing before the guest has spoken."""
    house, number = await House.open(caller.business), phone()
    await _booked(house, number)
    note = ("note_service_request", "{}")
    models.messages = [
        message(None, note, ("note_service_request", '{"text": "A free suite"}')),
        message("What do you need?"),
        message(None, note, note),
        message("Goodbye.", ("end_call", "{}")),
    ]
    model = {"runtime": "chat", "model_url": models.url, "model_name": "test"}
    call = await _called(caller, network, number, agent=await caller.agent(**_SCRIPT, **model))
    assert call["outcome"]["code"] == "request_noted"
    assert await _tools(caller, call) == [
        "note_service_request: the customer has not answered a question yet",
        "note_service_request: it takes no arguments",
        "note_service_request: yes",
        "note_service_request: The guest has said nothing that could be noted.",
    ]
    [wish] = (await house.api.get(f"{HOTEL}/service-requests", status=200)).data
    assert wish["description"] == "yes"


async def test_an_agent_has_the_tools_of_its_script(desk: Desk) -> None:
    """Another script brings its own, unless the list is one of the business's making."""
    feedback = await desk.agent(script="feedback")
    assert feedback["tools"] == ["record_opt_out"]
    path = f"{AGENTS}/{feedback['id']}"
    changed = (await desk.api.patch(path, _SCRIPT, status=200)).data
    assert changed["tools"] == [
        "find_reservation", "confirm_reservation", "cancel_reservation", "note_service_request",
        "record_opt_out",
    ]  # fmt: skip
    await desk.api.patch(path, {"tools": ["find_reservation"]}, status=200)
    changed = (await desk.api.patch(path, {"script": "feedback"}, status=200)).data
    assert changed["tools"] == ["find_reservation"]
