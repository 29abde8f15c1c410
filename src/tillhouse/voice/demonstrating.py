"""Calls and changes that are made to be seen: real ones, in a test book, without any waiting."""

from datetime import timedelta

from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import BookKey
from tillhouse.kit.page import Paged
from tillhouse.kit.values import Name
from tillhouse.providers.telephony.simulator.telephone import Simulator
from tillhouse.voice.agents import actions as agents
from tillhouse.voice.agents.types import AgentFilter, AgentPatch, NewAgent, Tone
from tillhouse.voice.calls.actions import place
from tillhouse.voice.calls.types import CalledAddress, CallPurpose, NewCall
from tillhouse.voice.dispatching.claiming import LEASE, CallLease, Intent, intend
from tillhouse.voice.dispatching.dispatcher import HurriedClock
from tillhouse.voice.dispatching.handling import Handling
from tillhouse.voice.dispatching.store.claiming import lock_call
from tillhouse.voice.dispatching.talking import Means
from tillhouse.voice.numbers import actions as numbers

ANSWERED, BUSY = "+15550200100", "+15550200101"
# A conversation takes less: the call has ended now.
_AGO = timedelta(minutes=2)


class NothingToCallWith(
    Refused, message="The test environment needs a simulated number and an active agent."
):
    """Both are there from the beginning, and may have been removed."""


async def change_an_agent(call: Call) -> None:
    """Make an agent, change it, and delete it."""
    agent = await agents.create(call, NewAgent(name=Name("Test agent")))
    await agents.change(call, agent.id, AgentPatch(tone=Tone("warm")))
    await agents.delete(call, agent.id)


async def intend_a_call(call: Call, phone: str) -> Intent:
    """A call to a simulated number, which no dispatcher takes: it is held as it is made."""
    call.now -= _AGO
    lines = (await numbers.list_page(call, Paged(limit=100))).rows
    line = next((one for one in lines if one.provider == "simulator"), None)
    found = (await agents.list_page(call, AgentFilter(status="active", limit=1))).rows
    if line is None or not found:
        raise NothingToCallWith
    new = NewCall(
        customer_phone=CalledAddress(phone),
        purpose=CallPurpose("See how a call goes"),
        business_voice_number_id=line.id,
        ai_agent_id=found[0].id,
    )
    placed = (await place(call, new)).data
    return await _intend(call.services, call.db, BookKey(call.book.id, placed.id), call)


async def _intend(services: Services, db: Db, key: BookKey, call: Call) -> Intent:
    claimed = await lock_call(db, key)
    assert claimed is not None, "it was placed a moment ago"  # noqa: S101
    # Dispatchers go by the real time: none finds it left behind.
    at = now()
    return await intend(services, db, claimed, call.now, CallLease(at + LEASE, at - call.now))


async def make_the_call(services: Services, intent: Intent) -> None:
    """Make a call that is held, to its end."""
    clock = HurriedClock(intent.begun_at)
    means = Means(services.settings)
    await Handling(services, clock, Simulator(), intent, means).run()
    means.close()
