"""Any sequence of posting, holding, settling, releasing and reversing, held against a model."""

import contextlib
from decimal import Decimal
from typing import Literal, TypeVar
from uuid import UUID

import asyncpg
import msgspec
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.ledger.books import EXPENSES, TRANSIT, WALLET, Books
from tests.make import Make
from tillhouse.app import App
from tillhouse.kit.errors import Problem
from tillhouse.ledger.store.holds import Balance, end_expired_of

Verb = Literal["pay in", "spend", "hold", "settle", "settle part", "release", "reverse", "wait"]


class Step(msgspec.Struct, frozen=True):
    """One operation: which hold or transfer it means is counted from the first."""

    verb: Verb
    amount: int = 100
    which: int = 0
    lasts: float | None = None


STEPS = st.builds(
    Step,
    verb=st.sampled_from(["pay in", "spend", "hold", "settle", "settle part", "release", "reverse",
        "wait"]),
    # Few values, so that sums meet the bounds exactly.
    amount=st.sampled_from([50, 100, 150, 200]),
    which=st.integers(0, 7),
    lasts=st.sampled_from([None, None, 10.0]),
)  # fmt: skip
TOUR = [
    Step("pay in", 200), Step("hold", 150), Step("spend", 100), Step("settle part", 50),
    Step("spend", 100), Step("reverse", which=2), Step("reverse", which=2),
    Step("hold", 100, lasts=10.0), Step("wait"), Step("settle", which=1), Step("hold", 150),
    Step("release", which=2), Step("reverse", which=3), Step("reverse", which=0),
]  # fmt: skip


class _Hold(msgspec.Struct):
    id: UUID
    amount: int
    ends: float | None
    is_pending: bool = True


class _Transfer(msgspec.Struct):
    id: UUID
    # The change that it made to the wallet.
    change: int
    # Neither a reversal nor reversed.
    is_free: bool = True


class Model:
    """A wallet in memory: what must come of each step, and what is left then."""

    def __init__(self) -> None:
        self.amount = 0
        self.time = 0.0
        self.holds: list[_Hold] = []
        self.transfers: list[_Transfer] = []

    @property
    def held(self) -> int:
        """The sum of holds that count."""
        return sum(one.amount for one in self.holds if self.counts(one))

    @property
    def available(self) -> int:
        """The amount that can be taken or held."""
        return self.amount - self.held

    def counts(self, one: _Hold) -> bool:
        """Whether a hold is pending, and its time isn't over."""
        return one.is_pending and (one.ends is None or one.ends > self.time)

    def moved(self, id_: UUID, change: int, *, is_free: bool = True) -> None:
        """A transfer was posted."""
        self.amount += change
        self.transfers.append(_Transfer(id_, change, is_free))

    def sweep(self) -> None:
        """Holds whose time is over were released."""
        for one in self.holds:
            one.is_pending = self.counts(one)


class Walk:
    """Takes steps with the books and with the model."""

    def __init__(self, books: Books) -> None:
        self.books = books
        self.model = Model()

    async def take(self, step: Step) -> None:
        """One step: it is done or refused as the model says."""
        if step.verb in ("spend", "reverse"):
            # A transfer, unlike a hold, doesn't look for what is due to be released.
            await self._sweep()
        may = self._may(step)
        if may is None:
            return
        is_done = False
        with contextlib.suppress(Problem, asyncpg.CheckViolationError):
            await self._do(step)
            is_done = True
        assert is_done == may, f"{step}: done {is_done}, allowed {may}"

    def _may(self, step: Step) -> bool | None:
        """Whether it is allowed; None without a hold or transfer to do it with."""
        model = self.model
        match step.verb:
            case "spend" | "hold":
                return step.amount <= model.available
            case "settle" | "settle part" | "release":
                one = _at(model.holds, step)
                return one and self._may_end(one, step)
            case "reverse":
                one = _at(model.transfers, step)
                return one and one.is_free and one.change <= model.available
            case _:
                return True

    def _may_end(self, one: _Hold, step: Step) -> bool:
        if step.verb == "release":
            # Also one whose time is over, as long as nothing released it.
            return one.is_pending
        is_enough = step.verb == "settle" or step.amount <= one.amount
        return self.model.counts(one) and is_enough

    async def _do(self, step: Step) -> None:
        books, model, amount = self.books, self.model, step.amount
        match step.verb:
            case "wait":
                books.later(10)
                model.time += 10
            case "pay in":
                model.moved(await books.top_up(amount), amount)
            case "spend":
                model.moved(await books.post(WALLET, EXPENSES, amount), -amount)
            case "hold":
                await self._hold(step)
            case "reverse":
                one = model.transfers[step.which % len(model.transfers)]
                id_ = await books.reverse(one.id)
                one.is_free = False
                model.moved(id_, -one.change, is_free=False)
            case _:
                await self._end(step)

    async def _hold(self, step: Step) -> None:
        model = self.model
        pending = sum(one.amount for one in model.holds if one.is_pending)
        is_short = step.amount > model.amount - pending
        id_ = await self.books.hold(step.amount, lasts=step.lasts)
        if is_short:
            model.sweep()
        ends = None if step.lasts is None else model.time + step.lasts
        model.holds.append(_Hold(id_, step.amount, ends))

    async def _end(self, step: Step) -> None:
        one = self.model.holds[step.which % len(self.model.holds)]
        if step.verb == "release":
            await self.books.release(one.id)
        else:
            part = step.amount if step.verb == "settle part" else None
            id_ = await self.books.settle(one.id, part)
            self.model.moved(id_, -(part or one.amount))
        one.is_pending = False

    async def _sweep(self) -> None:
        async with self.books.services.pool.transaction() as db:
            await end_expired_of(db, self.books.book, WALLET, self.books.moment)
        self.model.sweep()

    async def check(self) -> None:
        """The books say what the model says."""
        model = self.model
        wanted = Balance(Decimal(model.amount), Decimal(model.held))
        assert await self.books.balance() == wanted


T = TypeVar("T")


def _at(found: list[T], step: Step) -> T | None:
    return found[step.which % len(found)] if found else None


@settings(
    max_examples=40, deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(steps=st.lists(STEPS, min_size=4, max_size=24))
@example(steps=TOUR)
async def test_any_sequence_keeps_the_books_sound(
    app: App, sql: asyncpg.Connection, steps: list[Step]
) -> None:
    """After every step the balance is the model's; in the end every invariant is proven."""
    business = await Make(app, app.services).business()
    walk = Walk(await Books.of(business, app.services, sql))
    for step in steps:
        await walk.take(step)
        await walk.check()
    assert await walk.books.faults(batch=3) == []
    spent = await walk.books.held(EXPENSES) + await walk.books.held(TRANSIT)
    assert await walk.books.held(WALLET) == walk.model.amount
    assert spent >= 0
