"""Places of a process: how many a book may take of them."""

from uuid import uuid4

import pytest

from tillhouse.kit.ids import BookId
from tillhouse.voice.dispatching.places import Places


def _fill(places: Places, book: BookId) -> int:
    taken = 0
    while places.may_take(book):
        places.take(book)
        taken += 1
    return taken


@pytest.mark.parametrize(("at_once", "most"), [(50, 40), (5, 4), (4, 4), (1, 1)])
def test_a_book_leaves_one_place_in_five(at_once: int, most: int) -> None:
    """Of few places it may take all."""
    places, book = Places(at_once), BookId(uuid4())
    assert (_fill(places, book), places.of(book)) == (most, most)


def test_each_other_book_has_a_place_of_its_own() -> None:
    """One each while places are scarce; a place that comes back is another book's first."""
    places = Places(50)
    greedy, *others = (BookId(uuid4()) for _ in range(12))
    assert _fill(places, greedy) == 40
    assert [_fill(places, book) for book in others] == [1] * 10 + [0]
    assert not places.has_free
    places.give_back(greedy)
    assert not places.may_take(greedy)
    assert not places.may_take(others[0])
    assert places.may_take(others[-1])
