"""A test book's number and agent, so that a first call works at once."""

from datetime import datetime

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, new_id
from tillhouse.kit.values import Name
from tillhouse.voice.agents.rules import new_agent
from tillhouse.voice.agents.store import AGENTS
from tillhouse.voice.agents.types import NewAgent
from tillhouse.voice.numbers.rules import NumberFacts
from tillhouse.voice.numbers.store import NUMBERS

# The number that every test book calls from.
NUMBER = "+15550110000"
_AT_ONCE = 10


async def open_sandbox(db: Db, book_id: BookId, now: datetime) -> None:
    """Give a test book a number of the simulator's, and an agent."""
    agent = BookKey(book_id, new_id())
    new = NewAgent(name=Name("Front desk"), is_default=True)
    await AGENTS.insert(db, agent, new_agent(new), now)
    facts = NumberFacts(
        label="Sandbox",
        status="active",
        is_default=True,
        default_agent_id=agent.id,
        store_id=None,
        max_concurrent_calls=_AT_ONCE,
        calls_per_second=_AT_ONCE,
        # A test is not made to wait for the morning.
        calls_from=None,
        calls_until=None,
        allowed_prefixes=[],
    )
    await NUMBERS.insert(db, BookKey(book_id, new_id()), facts, now, NUMBER, "simulator")
