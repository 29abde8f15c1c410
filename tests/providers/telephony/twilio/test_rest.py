"""Calls by Twilio's REST API, and what becomes of them when it fails."""

from collections.abc import AsyncIterator
from datetime import timedelta

import msgspec
import pytest
import pytest_asyncio

from tests.providers.payments.simulators.simulator import Fault
from tests.providers.telephony.twilio.simulator import (
    CUSTOMER,
    FORBIDDEN,
    OWN_NUMBER,
    TwilioSimulator,
)
from tillhouse.providers.payments.provider import NotReached, Unclear
from tillhouse.providers.telephony.provider import Result
from tillhouse.providers.telephony.twilio.answers import Status
from tillhouse.providers.telephony.twilio.rest import (
    Denied,
    Rest,
    TooMany,
    TwilioAccount,
    TwilioCall,
)
from tillhouse.providers.telephony.twilio.results import denied, too_many, unanswered

_CREATE = "POST */Calls.json"
_NEW = TwilioCall(
    to=CUSTOMER, from_number=OWN_NUMBER, twiml="<Response/>", ring_s=30, talk_s=300,
    callback="https://till.example.com/hooks/twilio/1?attempt=2", detects_machines=True,
)  # fmt: skip


@pytest_asyncio.fixture
async def sim() -> AsyncIterator[TwilioSimulator]:
    """Twilio."""
    one = await TwilioSimulator().start()
    yield one
    await one.stop()


def _rest(sim: TwilioSimulator, timeout_s: float = 10.0) -> Rest:
    return Rest(sim.base_url, timeout_s)


async def test_a_call_is_made_as_it_is_wished(sim: TwilioSimulator) -> None:
    """All fields reach Twilio, the events each by itself."""
    made = await _rest(sim).create(sim.account, _NEW)
    assert made.status == "queued"
    form = sim.forms[made.sid]
    assert dict(form) | {"StatusCallbackEvent": ""} == {
        "To": CUSTOMER, "From": OWN_NUMBER, "Twiml": "<Response/>", "Timeout": "30",
        "TimeLimit": "300", "StatusCallback": _NEW.callback, "StatusCallbackMethod": "POST",
        "StatusCallbackEvent": "", "MachineDetection": "Enable",
    }  # fmt: skip
    events = [value for name, value in form if name == "StatusCallbackEvent"]
    assert events == ["initiated", "ringing", "answered", "completed"]


async def test_a_call_is_looked_up_listed_and_ended(sim: TwilioSimulator) -> None:
    """The list has the newest first, and calls between these numbers alone."""
    rest = _rest(sim)
    first = await rest.create(sim.account, _NEW)
    second = await rest.create(sim.account, _NEW)
    await rest.create(sim.account, msgspec.structs.replace(_NEW, to="+2348099999999"))
    found = await rest.find(sim.account, to=CUSTOMER, from_number=OWN_NUMBER)
    assert [one.sid for one in found] == [second.sid, first.sid]
    assert found[0].created_at is not None
    assert (await rest.end(sim.account, first.sid, "canceled")).status == "canceled"
    sim.move(second.sid, "in-progress")
    assert (await rest.end(sim.account, second.sid, "canceled")).status == "in-progress"
    assert (await rest.end(sim.account, second.sid, "completed")).status == "completed"
    assert (await rest.fetch(sim.account, second.sid)).status == "completed"


@pytest.mark.parametrize(
    "fault",
    ["500 first", "500 after", "reset first", "reset after", "truncated", "oversized", "no json",
     "redirect"],
)  # fmt: skip
async def test_a_lost_answer_leaves_open_whether_a_call_was_made(
    sim: TwilioSimulator, fault: Fault
) -> None:
    """It is asked once, whatever the answer, and the list tells what became of it."""
    sim.fail_next(fault, _CREATE)
    with pytest.raises(Unclear):
        await _rest(sim).create(sim.account, _NEW)
    assert len(sim.asked) == 1
    found = await _rest(sim).find(sim.account, to=CUSTOMER, from_number=OWN_NUMBER)
    assert [one.sid for one in found] == list(sim.calls)


@pytest.mark.parametrize("fault", ["silence", "silence after"])
async def test_silence_leaves_it_open_too(sim: TwilioSimulator, fault: Fault) -> None:
    """A time-out is no answer."""
    sim.fail_next(fault, _CREATE)
    with pytest.raises(Unclear):
        await _rest(sim, 0.05).create(sim.account, _NEW)
    assert len(sim.asked) == 1


async def test_a_server_that_is_not_there_executed_nothing() -> None:
    """Nothing is left open where no connection was."""
    with pytest.raises(NotReached):
        await Rest("http://127.0.0.1:1").create(TwilioSimulator.account, _NEW)


@pytest.mark.parametrize(
    ("to", "from_number", "code", "result"),
    [("+1", OWN_NUMBER, 21211, "invalid_destination"), ("", OWN_NUMBER, 21201,
      "invalid_destination"), (FORBIDDEN, OWN_NUMBER, 21215, "forbidden"),
     (CUSTOMER, "+14155550199", 21210, "forbidden")],
)  # fmt: skip
async def test_refusals_have_a_code_and_a_result(
    sim: TwilioSimulator, to: str, from_number: str, code: int, result: Result
) -> None:
    """None of them is tried again."""
    wanted = msgspec.structs.replace(_NEW, to=to, from_number=from_number)
    with pytest.raises(Denied) as refusal:
        await _rest(sim).create(sim.account, wanted)
    ended = denied(refusal.value)
    assert (refusal.value.code, ended.result, ended.may_retry) == (code, result, False)


async def test_a_wrong_token_and_a_call_that_is_gone(sim: TwilioSimulator) -> None:
    """Each is told by its code."""
    wrong = TwilioAccount(sim.account.account_sid, "another")
    with pytest.raises(Denied) as refusal:
        await _rest(sim).create(wrong, _NEW)
    assert denied(refusal.value).result == "trunk_auth"
    assert "another" not in repr(wrong)
    with pytest.raises(Denied) as refusal:
        await _rest(sim).fetch(sim.account, "CA" + "0" * 32)
    assert refusal.value.code == 20404


async def test_too_many_requests_name_their_pause(sim: TwilioSimulator) -> None:
    """A call that Twilio has no time for may be tried again, after that pause."""
    sim.fail_next("busy", _CREATE)
    with pytest.raises(TooMany) as refusal:
        await _rest(sim).create(sim.account, _NEW)
    ended = too_many(refusal.value)
    assert (ended.result, ended.may_retry, ended.retry_after) == (
        "provider_unavailable", True, None,
    )  # fmt: skip
    assert too_many(TooMany(timedelta(seconds=9))).retry_after == timedelta(seconds=9)
    assert sim.calls == {}


@pytest.mark.parametrize(
    ("status", "error_code", "sip_status", "result", "may_retry"),
    [("busy", None, None, "busy", True), ("no-answer", None, None, "no_answer", True),
     ("canceled", None, None, "cancelled", True),
     ("failed", None, None, "invalid_destination", False),
     ("failed", None, 404, "invalid_destination", False), ("failed", None, 603, "declined", False),
     ("failed", None, 486, "busy", True), ("failed", None, 503, "provider_unavailable", True),
     ("failed", 13227, None, "forbidden", False), ("failed", 10004, None, "provider_unavailable",
      True), ("failed", 99999, None, "invalid_destination", False),
     ("failed", 13227, 200, "forbidden", False), ("failed", None, 999, "invalid_destination",
      False)],
)  # fmt: skip
def test_every_end_without_an_answer_has_a_result(
    status: Status, error_code: int | None, sip_status: int | None, result: Result, may_retry: bool
) -> None:
    """A status of SIP is the most exact, then Twilio's own code, then the call's status."""
    ended = unanswered(status, error_code=error_code, sip_status=sip_status, words="told")
    assert ended.result == result
    assert ended.may_retry is may_retry
