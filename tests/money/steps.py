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
    "send_back", "send_back", "send_back", "send_back_in_vain", "send_back_in_vain",
    "hint_refund", "rethink", "rethink", "pay_out", "pay_out", "pay_out",
    "requery", "check_page", "withdraw", "withdraw", "drop_withdrawal", "hint", "spend", "unspend",
    "rethink_payout", "rethink_payout",
    "work", "work",
)  # fmt: skip

# Steps that seldom come by themselves in the order in which each finds what the one before it made.
CHAINS = (
    (
        "sell_by_deposit", "work", "arrive", "deliver_all", "send_back", "work", "hint_refund",
        "rethink", "deliver_all",
    ),
    (
        "sell_by_deposit", "work", "arrive", "deliver_all", "send_back_in_vain", "work", "pay_out",
        "work", "hint", "deliver_all",
    ),
    (
        "sell_by_deposit", "work", "arrive", "deliver_all", "send_back_in_vain", "work",
        "take_back", "deliver_all", "rethink", "deliver_all",
    ),
    (
        "withdraw", "work", "rethink_payout", "deliver_all", "withdraw", "work", "rethink_payout",
        "deliver_all",
    ),
)  # fmt: skip
# One of so many draws is a chain.
CHAINED = 12


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
    Step("rethink_payout", size=1),
    Step("rethink_payout"),
    Step("deliver_all", crash=UNHEARD),
    Step("rethink_payout"),
    Step("deliver_all", crash=Crash(-1, is_after=True)),
    Step("spend", crash=UNHEARD),
    Step("unspend", crash=UNHEARD),
    Step("cancel", which=1, crash=UNHEARD),
    Step("revive", which=1, crash=UNHEARD),
]
# Each kind of step, where there is something for it to happen to.
ROUND = [
    Step("sell"), Step("pay", size=3), Step("correct", way=1), Step("refund", size=2),
    Step("sell", size=1), Step("ask_for_debt"), Step("open_page"), Step("drop_link"),
    Step("pay", size=2), Step("refund_line"), Step("cancel"), Step("revive"),
    Step("sell"), Step("ask_for_sale"), Step("check_page"), Step("delete"),
    Step("sell_by_deposit"), Step("work"), Step("arrive"), Step("deliver"), Step("requery"),
    Step("send_back"), Step("work"), Step("hint_refund"), Step("rethink"), Step("deliver_all"),
    Step("send_back_in_vain"), Step("work"), Step("pay_out"), Step("work"),
    Step("withdraw"), Step("drop_withdrawal"), Step("withdraw"), Step("work"), Step("hint"),
    Step("rethink_payout", size=1), Step("rethink_payout"), Step("deliver_all"),
    Step("rethink_payout"), Step("deliver_all"),
    Step("arrive_twice"), Step("lose"), Step("deliver_twice"),
    Step("arrive_unknown"), Step("arrive_foreign"), Step("arrive_in_vain"), Step("deliver_all"),
    Step("take_back"), Step("ask_for_wallet"), Step("expire_link"), Step("spend"), Step("unspend"),
    Step("sell_by_deposit"), Step("work"), Step("arrive"), Step("deliver_all"),
    Step("send_back_in_vain", size=1), Step("work"), Step("take_back"), Step("deliver_all"),
    Step("rethink"), Step("deliver_all"),
]  # fmt: skip
# The statements at which something may crash, of a request and of all that a worker does; those up
# to 0 are commits, where most is at stake.
COMMITS, COMMITS_LATE = (-1, 0, 0), tuple(range(-8, 1))
STATEMENTS, STATEMENTS_LATE = tuple(range(1, 17)), tuple(range(1, 61))

_WHICH, _WAY = st.integers(0, 7), st.integers(0, 3)


def drawn(rng: Random, length: int) -> list[Step]:
    """Any walk of so many steps."""
    steps: list[Step] = []
    while len(steps) < length:
        if rng.randrange(CHAINED):
            what, which, way = rng.choice(HAPPENINGS), rng.randrange(8), rng.randrange(4)
            steps.append(Step(what, which, rng.randrange(7), way, _crash(rng, what)))
        else:
            steps += [
                Step(what, 0, rng.randrange(7), rng.randrange(2), _crash(rng, what))
                for what in rng.choice(CHAINS)
            ]
    return steps[:length]


def _crash(rng: Random, what: str) -> Crash | None:
    if rng.random() < HALF:
        return None
    return Crash(rng.choice(rng.choice(_numbers(what))), is_after=rng.random() < HALF)


def _numbers(what: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return (COMMITS_LATE, STATEMENTS_LATE) if what in LATE else (COMMITS, STATEMENTS)


def _step(what: str, *, is_chained: bool = False) -> st.SearchStrategy[Step]:
    numbers = st.one_of(*(st.sampled_from(some) for some in _numbers(what)))
    crashes = st.none() | st.builds(Crash, numbers, st.booleans())
    which, way = (st.just(0), st.integers(0, 1)) if is_chained else (_WHICH, _WAY)
    return st.builds(Step, st.just(what), which, st.integers(0, 6), way, crashes)


def _chain(names: tuple[str, ...]) -> st.SearchStrategy[list[Step]]:
    return st.tuples(*(_step(what, is_chained=True) for what in names)).map(list)


def walks(length: int) -> st.SearchStrategy[list[Step]]:
    """Walks of so many steps at most."""
    single = st.sampled_from(HAPPENINGS).flatmap(_step).map(lambda step: [step])
    chain = st.sampled_from(CHAINS).flatmap(_chain)
    part = st.integers(1, CHAINED).flatmap(lambda number: chain if number == 1 else single)
    parts = st.lists(part, min_size=length // 2, max_size=length)
    return parts.map(lambda some: [step for part in some for step in part][:length])
