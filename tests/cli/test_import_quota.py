"""`tillhouse import orders` keeps within the quotas of orders: what doesn't fit is refused."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.cli.command import Command
from tests.cli.test_commands import fetch
from tests.cli.test_import_orders import SOLD, arguments, lines
from tillhouse.db.embedded import Embedded
from tillhouse.db.pool import Pool
from tillhouse.jobs.store import list_books_after
from tillhouse.kit.clock import now
from tillhouse.orders.storage.store import add_new_orders

_COUNT = """
    SELECT count(*) AS orders FROM orders o JOIN books b ON b.id = o.book_id
    WHERE b.business_id = $1 AND b.environment = 'test'
"""


@pytest.fixture
def shop(command: Command) -> str:
    """The id of a business whose orders nobody else counts."""
    mark = uuid4().hex[:8]
    made = command.json(
        "business", "create", "--name", f"Shop {mark}", "--owner-name", "Bola Owner", "--email",
        f"{mark}@example.com", "--type", "retail", "--currency", "NGN", "--password-stdin",
        pipe="correct horse battery\n",
    )  # fmt: skip
    return made["businessId"]


def sale(number: int, *, line_count: int = 1) -> dict[str, Any]:
    """An old sale."""
    item = {"product_name": "Yam " + "x" * 90, "custom_price": 5, "quantity": 1}
    return {"row_key": f"{number}", "occurred_at": SOLD, "items": [item] * line_count}


async def count_by_chore(embedded: Embedded) -> None:
    """Count as the chore of a server does, some minutes later."""
    pool = await Pool.open(embedded.url, size=4)
    try:
        async with pool.transaction() as db:
            books = await list_books_after(db, UUID(int=0), 1000)
            while await add_new_orders(db, books, now() + timedelta(minutes=5), 1000):
                pass
    finally:
        await pool.close()


async def test_a_file_with_more_than_there_is_room_for_is_refused(
    command: Command, embedded: Embedded, shop: str, tmp_path: Path
) -> None:
    """Nothing of it is recorded; what fits is, to the last, and what is there needs no room."""
    limited = Command(command.data, ORDER_LIMIT="5")

    def run(count: int, *more: str, code: int = 0) -> dict[str, Any]:
        file = lines(tmp_path, *(sale(number) for number in range(count)))
        return limited.json(*arguments("orders", file, shop, *more), code=code)

    async def kept() -> int:
        [row] = await fetch(embedded, _COUNT, UUID(shop))
        return row["orders"]

    assert run(4)["created"] == 4
    for _ in ("not counted yet", "counted"):
        for more in ((), ("--skip-wrong",)):
            told = run(6, *more, code=1)
            assert (told["created"], told["fullBy"]) == (0, "TILLHOUSE_ORDER_LIMIT")
        assert await kept() == 4
        await count_by_chore(embedded)
    said = limited.refusal(*arguments("orders", tmp_path / "orders.jsonl", shop))
    assert "holds 4 of 5 orders; nothing was imported" in said
    assert "Raise TILLHOUSE_ORDER_LIMIT," in said
    assert (run(5)["created"], run(5)["unchanged"]) == (1, 5)
    assert await kept() == 5
    told = run(6, code=1)
    assert (told["orders"], told["created"], told["unchanged"]) == (6, 0, 0)
    # The other environment has a quota of its own.
    live = [*arguments("orders", tmp_path / "orders.jsonl", shop)[:-1], "live"]
    assert limited.json(*live, code=1)["fullBy"] == "TILLHOUSE_ORDER_LIMIT"
    lines(tmp_path, *(sale(number) for number in range(5)))
    assert limited.json(*live)["created"] == 5


@pytest.mark.proof
async def test_an_import_ends_when_the_bytes_are_reached(
    command: Command, embedded: Embedded, shop: str, tmp_path: Path
) -> None:
    """It says how far it came, and goes on from there once the limit is raised."""
    file = lines(tmp_path, *(sale(number, line_count=500) for number in range(12)))
    args = arguments("orders", file, shop)
    limited = Command(command.data, ORDER_LIMIT_MIB="1")
    told = limited.json(*args, code=1)
    # Some of a size are recorded together, so that the last of them may pass the limit.
    assert (told["created"], told["fullBy"]) == (8, "TILLHOUSE_ORDER_LIMIT_MIB")
    [row] = await fetch(embedded, _COUNT, UUID(shop))
    assert row["orders"] == 8
    said = limited.refusal(*args)
    assert "of 1 MiB; nothing was imported" in said
    raised = Command(command.data, ORDER_LIMIT_MIB="3").json(*args)
    assert (raised["created"], raised["unchanged"]) == (4, 8)
    assert json.loads(limited.run(*args, "--json").stdout)["unchanged"] == 12
