"""A list that is read to its end, page by page."""

from typing import Any

from tests.api import Api


async def read_all(api: Api, path: str, limit: int = 100) -> list[Any]:
    """Every row of all pages; the total is their number, and no page comes after the last."""
    paged = f"{path}{'&' if '?' in path else '?'}limit={limit}"
    rows: list[Any] = []
    page, has_more = 1, True
    while has_more:
        answer = await api.get(f"{paged}&page={page}", status=200)
        rows += answer.data
        has_more, page = answer.json["meta"]["hasMore"], page + 1
        assert has_more == (answer.json["meta"]["total"] > len(rows))
    assert answer.json["meta"]["total"] == len(rows)
    assert (await api.get(f"{paged}&page={page}", status=200)).data == []
    return rows
