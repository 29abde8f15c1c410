"""The switch: frozen by hand, after failures, and with the owner's password."""

import asyncio
from typing import Any
from uuid import UUID

from tests.make import PASSWORD, Business, Make
from tests.payouts.treasury import SWITCH, Treasury
from tests.payouts.wallets import CURRENCY

_HERE = {"service-environment": "test"}


async def turn(treasury: Treasury, **switch: Any) -> None:
    """Turn the switch, as the owner."""
    await treasury.business.step_up()
    owner = treasury.business.owner
    await owner.request("PUT", SWITCH, switch, headers=_HERE, status=200)


async def test_while_frozen_nothing_is_requested_and_nothing_sent(treasury: Treasury) -> None:
    """Those that are not sent wait, and go when the owner says so."""
    asked = await treasury.withdraw(5)
    frozen = {"frozen": True, "reason": "A key may have leaked"}
    answer = await treasury.api.request("PUT", SWITCH, frozen, status=200)
    assert (answer.data["frozen"], answer.data["frozenBy"]) == (True, "test key")
    refused = await treasury.ask(5, status=400)
    assert "A key may have leaked" in refused.json["message"]
    await treasury.work()
    assert await treasury.status(asked["id"]) == "requested"
    assert treasury.bank.asked == {}
    await treasury.api.request("PUT", SWITCH, {"frozen": False}, status=400)
    await turn(treasury, frozen=False)
    await treasury.work()
    await treasury.work()
    assert await treasury.status(asked["id"]) == "completed"
    assert await treasury.faults() == []
    events = await treasury.sql.fetch(
        """
        SELECT event_type FROM audit_events
        WHERE business_id = $1 AND event_type LIKE 'payouts.%' ORDER BY sequence
        """,
        UUID(treasury.business.id),
    )
    assert [row["event_type"] for row in events] == ["payouts.frozen", "payouts.resumed"]


async def test_a_freeze_stops_one_book(treasury: Treasury, make: Make) -> None:
    """Neither another business, nor the live environment of this one."""
    other = await make.business(currency=CURRENCY)
    theirs = await Treasury.open(treasury.services, other, treasury.sql)
    await theirs.fill(100)
    await treasury.api.request("PUT", SWITCH, {"frozen": True, "reason": "x"}, status=200)
    await treasury.ask(5, status=400)
    asked = await theirs.withdraw(5)
    await theirs.work()
    assert await theirs.status(asked["id"]) == "completed"
    live = {"service-environment": "live"}
    for shown in (
        await theirs.api.get(SWITCH, status=200),
        await treasury.business.owner.get(SWITCH, headers=live, status=200),
    ):
        assert shown.data["frozen"] is False


async def test_failures_one_after_another_freeze(treasury: Treasury) -> None:
    """A success in between counts them anew; the audit log says why it stopped."""
    for manner in ("refused",) * 4 + ("executed",) + ("refused",) * 5:
        treasury.bank.manners.append(manner)
        await treasury.withdraw(5)
        await treasury.work()
    seen = (await treasury.api.get(SWITCH, status=200)).data
    assert (seen["frozen"], seen["frozenBy"]) == (True, "Tillhouse")
    assert seen["reason"] == "5 withdrawals failed one after another"
    await treasury.ask(5, status=400)
    assert await treasury.faults() == []


async def test_a_new_password_freezes(treasury: Treasury, business: Business) -> None:
    """The thief of a session who changes the password takes no money."""
    body = {"current_password": PASSWORD, "new_password": "another horse battery"}
    await business.owner.post("/api/auth/change-password", body, status=200)
    seen = (await treasury.api.get(SWITCH, status=200)).data
    assert (seen["frozen"], seen["reason"]) == (True, "the owner's password was changed")
    await treasury.ask(5, status=400)


async def test_a_freeze_against_requests_and_sends(treasury: Treasury) -> None:
    """After the answer to a freeze nothing is requested, and nothing that wasn't sent is."""
    for _ in range(5):
        asked = [await treasury.withdraw(1) for _ in range(4)]
        froze = treasury.api.request("PUT", SWITCH, {"frozen": True, "reason": "x"}, status=200)
        await asyncio.gather(froze, treasury.work(), treasury.ask(1, status=None))
        paid = treasury.bank.paid.total()
        await treasury.ask(1, status=400)
        await treasury.work()
        assert treasury.bank.paid.total() == paid
        await turn(treasury, frozen=False)
        await treasury.work()
        await treasury.work()
        for one in asked:
            assert await treasury.status(one["id"]) == "completed"
    assert await treasury.faults() == []


async def test_a_key_may_lower_the_limit_and_never_raise_it(treasury: Treasury) -> None:
    """A credential that was stolen can only make it stricter."""
    for limit, status in ((500, 200), (100, 200), (101, 400), (None, 400)):
        body = {"frozen": False, "max_per_day": limit}
        await treasury.api.request("PUT", SWITCH, body, status=status)
    await treasury.ask(101, status=400)
    await turn(treasury, frozen=False, max_per_day=None)
    await treasury.ask(101)
    assert (await treasury.api.get(SWITCH, status=200)).data["maxPerDay"] is None


async def test_a_limit_alone_leaves_the_freeze_and_a_freeze_the_limit(treasury: Treasury) -> None:
    """A field that isn't sent stays; the audit log tells each change once."""
    for body in ({"max_per_day": 500}, {"frozen": True, "reason": "Stolen"}, {"max_per_day": 400}):
        await treasury.api.request("PUT", SWITCH, body, status=200)
    seen = (await treasury.api.get(SWITCH, status=200)).data
    told = seen["frozen"], seen["reason"], seen["frozenBy"], seen["maxPerDay"]
    assert told == (True, "Stolen", "test key", 400)
    await turn(treasury, max_per_day=None)
    seen = (await treasury.api.get(SWITCH, status=200)).data
    assert (seen["frozen"], seen["reason"], seen["maxPerDay"]) == (True, "Stolen", None)
    rows = await treasury.sql.fetch(
        """
        SELECT event_type FROM audit_events
        WHERE business_id = $1 AND event_type LIKE 'payouts.%' ORDER BY sequence
        """,
        UUID(treasury.business.id),
    )
    changed = [row["event_type"].removeprefix("payouts.") for row in rows]
    assert changed == ["limited", "frozen", "limited", "limited"]


async def test_twenty_who_freeze_and_set_the_limit_undo_nothing(treasury: Treasury) -> None:
    """Ten of each at once, of a wallet where nothing was ever set: both hold."""
    bodies: list[dict[str, Any]] = [{"frozen": True, "reason": "Stolen"}, {"max_per_day": 500}]
    await asyncio.gather(
        *(treasury.api.request("PUT", SWITCH, body, status=200) for body in bodies * 10)
    )
    seen = (await treasury.api.get(SWITCH, status=200)).data
    told = seen["frozen"], seen["reason"], seen["maxPerDay"]
    assert told == (True, "Stolen", 500)


async def test_a_freeze_needs_a_reason(treasury: Treasury) -> None:
    """422, and nothing is frozen."""
    bodies: tuple[dict[str, Any], ...] = (
        {"frozen": True},
        {"frozen": "yes", "reason": "x"},
        {"reason": "x"},
        {"frozen": True, "reason": "x" * 201},
        {"frozen": False, "max_per_day": 0},
        {"frozen": False, "max_per_day": "1e9"},
        {},
        {"reason": "x", "max_per_day": 5},
        {"frozen": None},
        {"max_per_day": 1.005},
        {"frozen": False, "max_per_day": "0.001"},
    )
    for body in bodies:
        refused = await treasury.api.request("PUT", SWITCH, body, status=422)
        if "max_per_day" in body and "reason" not in body:
            assert refused.wrong_fields == {"max_per_day"}
    seen = (await treasury.api.get(SWITCH, status=200)).data
    assert (seen["frozen"], seen["maxPerDay"], seen["frozenAt"]) == (False, None, None)


async def test_the_limit_of_the_business_counts_what_waits_to_be_sent(treasury: Treasury) -> None:
    """A new day frees nothing of the last 24 hours, of a withdrawal that no job has sent either."""
    body = {"frozen": False, "max_per_day": 100}
    await treasury.api.request("PUT", SWITCH, body, status=200)
    asked = (await treasury.ask(100)).data
    assert await treasury.status(asked["id"]) == "requested"
    await treasury.sql.execute(
        "UPDATE payout_controls SET day = day - 1 WHERE book_id = $1", treasury.book_id
    )
    refused = (await treasury.ask(1, status=400)).json["message"]
    assert "leaves 0 within 24 hours" in refused
