"""Pages: together they show every row once."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.kit.page import PAGE_MAX, Page, meta, walk


@given(st.integers(0, 2000), st.integers(1, 100))
def test_pages_cover_a_list_without_overlap(total: int, per_page: int) -> None:
    """Following hasMore from the first page shows every row exactly once."""
    seen: list[int] = []
    number = 1
    while True:
        page = Page(number, per_page)
        seen.extend(range(total)[page.offset : page.offset + page.per_page])
        told = meta(page, total)
        if not told.has_more:
            break
        number += 1
    assert seen == list(range(total))
    assert told.total_pages == (number if total else 0)


@given(st.integers(1, 2000), st.integers(1, 100), st.data())
def test_a_walk_comes_to_the_rows_of_its_page(
    total: int, per_page: int, data: st.DataObject
) -> None:
    """From either end, and past no more than half of the list."""
    page = Page(data.draw(st.integers(1, meta(Page(1, per_page), total).total_pages)), per_page)
    way = walk(page, total)
    rows = list(range(total))
    ordered = rows[::-1] if way.is_from_last else rows
    found = ordered[way.skipped : way.skipped + way.count]
    assert sorted(found) == rows[page.offset : page.offset + per_page]
    assert 2 * way.skipped <= total


def test_meta_is_written_in_camel_case() -> None:
    """The names are the contract's."""
    assert msgspec.json.decode(msgspec.json.encode(meta(Page(2, 10), 25))) == {
        "total": 25,
        "page": 2,
        "perPage": 10,
        "totalPages": 3,
        "hasMore": True,
    }
    assert not meta(Page(9, 10), 25).has_more


@pytest.mark.parametrize(("page", "per_page"), [(0, 1), (PAGE_MAX + 1, 1), (1, 0), (1, 101)])
def test_a_page_out_of_bounds_is_an_error(page: int, per_page: int) -> None:
    """No offset overflows, no page is endless."""
    with pytest.raises(ValueError, match="must be from 1"):
        Page(page, per_page)
