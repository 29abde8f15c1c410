"""Ids and references: ordered where order helps, unguessable where it matters."""

import subprocess
import sys
import threading
import time
from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.kit.ids import (
    BASE62,
    CODE_ALPHABET,
    Lots,
    Sequence,
    new_id,
    public_reference,
    random_base62,
    short_code,
)


def test_an_id_is_a_uuid_of_version_7_that_tells_its_time() -> None:
    """The first 48 bits are the milliseconds since 1970."""
    before = time.time_ns() // 1_000_000
    made = new_id()
    after = time.time_ns() // 1_000_000
    assert type(made) is UUID
    assert (made.version, made.variant) == (7, RFC_4122)
    # A burst may run ahead of the clock, by less than a second.
    assert before <= made.int >> 80 <= after + 1000


def test_ids_rise_even_within_a_millisecond() -> None:
    """More ids than one millisecond's counter holds still come in order."""
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert [str(one) for one in made[:2000]] == sorted(str(one) for one in made[:2000])


@given(st.lists(st.integers(0, 3), max_size=20), st.integers(0, 5000))
def test_time_and_counter_rise_whatever_the_clock_does(readings: list[int], burst: int) -> None:
    """A clock that stands still or goes back, and more ids than a counter holds."""
    sequence = Sequence()
    made = [sequence.next(reading) for reading in [*readings, *[2] * burst]]
    assert made == sorted(set(made))
    assert all(0 <= counter < 2**12 for _, counter in made)
    assert all(millisecond <= 3 + burst // 2048 + 1 for millisecond, _ in made)


def test_a_forked_process_draws_lots_of_its_own() -> None:
    """Its ids are random anew, not those that its parent is about to make."""
    script = """
import os
from tillhouse.kit.ids import new_id
low = lambda: new_id().int & 2**62 - 1
low()
child = os.fork()
drawn = [low() for _ in range(600)]
# One after the other: lines longer than a pipe takes at once would mix.
child and os.waitpid(child, 0)
print(*drawn, flush=True)
"""
    command = [sys.executable, "-c", script]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert len(set(printed)) == len(printed) == 1200


def test_lots_are_as_long_as_they_should_be() -> None:
    """Each bit is set in about half of them, and no two are equal."""
    lots = Lots()
    drawn = [lots.draw() for _ in range(4000)]
    assert len(set(drawn)) == len(drawn)
    assert max(drawn) < 2**62
    for bit in range(62):
        assert 1700 < sum(one >> bit & 1 for one in drawn) < 2300


def test_ids_rise_in_every_thread_and_never_meet() -> None:
    """Threads share one sequence: time and counter together never come twice."""
    made: list[list[UUID]] = [[] for _ in range(4)]

    def make(mine: list[UUID]) -> None:
        mine.extend(new_id() for _ in range(3000))

    threads = [threading.Thread(target=make, args=(mine,)) for mine in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(mine == sorted(mine) for mine in made)
    assert len({one.int >> 64 for mine in made for one in mine}) == 12_000


@given(st.integers(1, 600))
def test_a_reference_holds_the_bits_it_promises(bits: int) -> None:
    """The text is long enough, and not a character longer than needed."""
    text = random_base62(bits)
    assert 62 ** len(text) >= 2**bits > 62 ** (len(text) - 1)
    assert set(text) <= set(BASE62)


@pytest.mark.parametrize("prefix", ["", "pl_"])
def test_references_differ(prefix: str) -> None:
    """The prefix stays as given; the rest is never the same."""
    made = {public_reference(prefix) for _ in range(500)}
    assert len(made) == 500
    assert all(one.startswith(prefix) and len(one) == len(prefix) + 22 for one in made)


def test_a_short_code_has_no_look_alikes() -> None:
    """It can be read out on a telephone."""
    assert not set(CODE_ALPHABET) & set("01OILUoilu")
    assert len(BASE62) == len(set(BASE62)) == 62
    codes = {short_code() for _ in range(500)}
    assert len(codes) == 500
    assert all(len(code) == 8 and set(code) <= set(CODE_ALPHABET) for code in codes)
    assert len(short_code(5)) == 5
