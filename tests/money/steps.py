"""The steps of walks: what happens, to which thing, how much, by which method, and the crash."""

from random import Random

import msgspec
from hypothesis import strategies as st

from tests.money.crashing import Crash

# In minor units; those of withdrawals that end in 95 to 99 the sandbox treats in its ways.
AMOUNTS = (10000, 1, 333, 4999, 12000, 9999, 25000)
# The same holds for refunds through it.
RETURNS = (2000, 2095, 2096, 2097, 2098, 2099, 10000)
PAYOUTS = (2000, 2095, 2096, 2097, 2098, 2099, 90000)
METHODS = ("cash", "transfer", "pos", "credit")
HALF = 0.5
HOURS = (0.0, 0.1, 1.2, 27.0)

# Everything that can happen, as often as it stands here.
HAPPENINGS = (
    "sell", "sell", "sell_by_deposit", "sell_by_deposit", "sell_by_deposit",
    "pay", "pay", "pay", "correct", "refund", "refund", "refund", "refund_line",
    "cancel", "revive", "delete",
    "ask_for_sale", "ask_for_sale", "ask_for_debt", "ask_for_wallet", "open_page", "open_page",
    "open_page", "drop_link", "expire_link",
    "arrive", "arrive", "arrive", "arrive", "arrive_twice", "arrive_unknown", "arrive_foreign",
    "arrive_in_vain", "take_back", "take_back",
    "deliver", "deliver", "deliver", "deliver_twice", "deliver_all", "deliver_all", "lose",
    "send_back", "send_back", "send_back", "send_back", "hint_refund", "rethink", "rethink",
    "pay_out", "pay_out", "pay_out",
    "requery", "check_page", "withdraw", "withdraw", "drop_withdrawal", "hint", "spend", "unspend",
    "work", "work",
)  # fmt: skip


class Step(msgspec.Struct, frozen=True):
    """Something that happens; numbers choose among what there is at that moment."""

    what: str
    which: int = 0
    size: int = 0
    way: int = 0
    # The newest or the oldest is meant by the last and the first number.
    crash: Crash | None = None

    @property
    def amount(self) -> int:
        """An amount of money."""
        return AMOUNTS[self.size % len(AMOUNTS)]

    @property
    def method(self) -> str:
        """A method of payment."""
        return METHODS[self.way % len(METHODS)]


# Every walk begins so, that there is something for things to happen to.
OPENING = (
    Step("sell", which=1, size=1),
    Step("ask_for_sale"),
    Step("open_page"),
    Step("sell_by_deposit", size=2),
    Step("ask_for_wallet", size=6),
    Step("open_page"),
    Step("arrive"),
    Step("deliver_all"),
)
LATE = ("work", "deliver_all")
# The process dies when it has committed and told nobody, at each kind of thing that moves money.
UNHEARD = Crash(0, is_after=True)
TOUR = [
    Step("sell", which=1, size=1),
    Step("pay", size=2, crash=UNHEARD),
    Step("pay", size=4, way=1, crash=UNHEARD),
    Step("refund", size=3, crash=UNHEARD),
    Step("refund", size=2, crash=Crash(0, is_after=False)),
    Step("sell_by_deposit", size=1, crash=UNHEARD),
    Step("arrive"),
    Step("deliver_all", crash=UNHEARD),
    Step("work", crash=Crash(-1, is_after=True)),
    Step("sell_by_deposit", size=2),
    Step("work"),
    Step("arrive"),
    Step("deliver_all"),
    Step("send_back", crash=UNHEARD),
    Step("work", crash=Crash(-1, is_after=True)),
    Step("send_back", size=3, crash=Crash(0, is_after=False)),
    Step("work", way=1, crash=UNHEARD),
    Step("rethink"),
    Step("deliver_all", crash=UNHEARD),
    Step("send_back", size=5),
    Step("work"),
    Step("pay_out", crash=UNHEARD),
    Step("work", crash=UNHEARD),
    Step("pay_out", size=1, crash=Crash(0, is_after=False)),
    Step("work", way=2),
    Step("take_back"),
    Step("requery", crash=Crash(-1, is_after=True)),
    Step("ask_for_wallet", crash=UNHEARD),
    Step("withdraw", crash=UNHEARD),
    Step("withdraw", size=3, crash=UNHEARD),
    Step("work", crash=UNHEARD),
    Step("work", way=2, crash=Crash(-2, is_after=False)),
    Step("spend", crash=UNHEARD),
    Step("unspend", crash=UNHEARD),
    Step("cancel", which=1, crash=UNHEARD),
    Step("revive", which=1, crash=UNHEARD),
]
# The statements at which something may crash, of a request and of all that a worker does; those up
# to 0 are commits, where most is at stake.
COMMITS, COMMITS_LATE = (-1, 0, 0), tuple(range(-8, 1))
STATEMENTS, STATEMENTS_LATE = tuple(range(1, 17)), tuple(range(1, 61))


def drawn(rng: Random) -> Step:
    """Any step."""
    what = rng.choice(HAPPENINGS)
    crash = None
    if rng.random() < HALF:
        numbers = rng.choice(_numbers(what))
        crash = Crash(rng.choice(numbers), is_after=rng.random() < HALF)
    return Step(what, rng.randrange(8), rng.randrange(7), rng.randrange(4), crash)


def _numbers(what: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return (COMMITS_LATE, STATEMENTS_LATE) if what in LATE else (COMMITS, STATEMENTS)


def _step(what: str) -> st.SearchStrategy[Step]:
    numbers = st.one_of(*(st.sampled_from(some) for some in _numbers(what)))
    crashes = st.none() | st.builds(Crash, numbers, st.booleans())
    return st.builds(
        Step, st.just(what), st.integers(0, 7), st.integers(0, 6), st.integers(0, 3), crashes
    )


def walks(length: int) -> st.SearchStrategy[list[Step]]:
    """Walks of so many steps at most."""
    step = st.sampled_from(HAPPENINGS).flatmap(_step)
    return st.lists(step, min_size=length // 2, max_size=length)
