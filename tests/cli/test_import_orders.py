"""`tillhouse import orders`: all of a file is checked first, and each order is recorded once."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.cli.command import Command
from tests.cli.test_commands import deserted, fetch
from tillhouse.db.embedded import Embedded

HEADER = (
    "row_key,occurred_at,product_sku,product_name,custom_price,quantity,line_type,customer_name,"
    "customer_phone,payment_method,amount_paid,discount_amount,channel,tags,notes"
)
SOLD = "2025-03-01T10:00:00Z"

_KEPT = """
    SELECT o.id, o.idempotency_key, o.total_amount, o.amount_paid, o.status, o.payment_method,
        o.channel, o.recorded_by_name, o.entry_source, o.occurred_at, o.notes,
        c.name AS customer, c.phone_number,
        (SELECT count(*) FROM order_items i
            WHERE i.book_id = o.book_id AND i.order_id = o.id) AS lines,
        cardinality(o.tag_ids) AS tags
    FROM orders o JOIN books b ON b.id = o.book_id
    LEFT JOIN customers c ON c.book_id = o.book_id AND c.id = o.customer_id
    WHERE b.business_id = $1 AND o.idempotency_key LIKE 'import:' || $2 || '%'
    ORDER BY o.idempotency_key
"""
_TOLD = """
    SELECT count(*) AS times FROM webhook_events e JOIN books b ON b.id = e.book_id
    WHERE b.business_id = $1 AND e.type = 'order.created'
        AND e.payload::jsonb #>> '{data,entityId}' = ANY($2::text[])
"""
_SOLD_BY_ID = """
    SELECT FROM products p JOIN variants v ON v.book_id = p.book_id AND v.product_id = p.id
    WHERE p.sku = $1 FOR UPDATE
"""
_ON_HAND = """
    SELECT sum(l.on_hand) AS on_hand FROM stock_levels l
    JOIN variants v ON v.book_id = l.book_id AND v.id = l.variant_id
    JOIN products p ON p.book_id = v.book_id AND p.id = v.product_id
    WHERE p.sku = $1
"""


@pytest.fixture
def mark() -> str:
    """The prefix of the keys of one test."""
    return uuid4().hex[:8]


@pytest.fixture
def business(command: Command, mark: str) -> str:
    """The id of a business of its own."""
    made = command.json(
        "business", "create", "--name", f"Shop {mark}", "--owner-name", "Bola Owner", "--email",
        f"{mark}@example.com", "--type", "retail", "--currency", "NGN", "--password-stdin",
        pipe="correct horse battery\n",
    )  # fmt: skip
    return made["businessId"]


@pytest.fixture
def sku(command: Command, business: str, tmp_path: Path, mark: str) -> str:
    """The sku of a product at 2500 whose stock is tracked, and of which there is none."""
    file = tmp_path / "products.csv"
    file.write_text(f"name,sku,price,tracks_stock\nRice {mark},R-{mark},2500,yes\n", "utf-8")
    command.json(*arguments("products", file, business))
    return f"R-{mark}"


def arguments(what: str, file: Path, business: str, *more: str) -> list[str]:
    """The command line."""
    return ["import", what, str(file), "--business", business, "--environment", "test", *more]


def table(folder: Path, *rows: str) -> Path:
    """A CSV file of these rows below the header."""
    path = folder / "orders.csv"
    path.write_text("\n".join([HEADER, *rows]), "utf-8")
    return path


def lines(folder: Path, *values: dict[str, Any] | str) -> Path:
    """A file of JSON lines."""
    path = folder / "orders.jsonl"
    text = [one if isinstance(one, str) else json.dumps(one) for one in values]
    path.write_text("\n".join(text), "utf-8")
    return path


def named(told: dict[str, Any]) -> set[tuple[int, str | None]]:
    """Line and column of everything that is wrong."""
    return {(error["line"], error["column"]) for error in told["errors"]}


async def test_a_table_is_imported_once(
    command: Command, business: str, embedded: Embedded, tmp_path: Path, sku: str, mark: str
) -> None:
    """Rows of one key are one order, told like any sale; a second run finds all of them there."""
    file = table(
        tmp_path,
        f"{mark}-1,{SOLD},{sku},,,2,,Ada Okafor,+2348031112223,transfer,5000,,whatsapp,vip|late,"
        '"Soft, please"',
        f"{mark}-1,,,Delivery,700.50,1,fee,,,,,,,,",
        "",
        f"{mark}-2,2025-03-02T09:30:00+01:00,{sku},,2000,1.5,,,,,,100,,,",
    )
    first = command.json(*arguments("orders", file, business))
    told = {name: first[name] for name in ("orders", "created", "unchanged", "wrong")}
    assert told == {"orders": 2, "created": 2, "unchanged": 0, "wrong": 0}
    again = command.json(*arguments("orders", file, business))
    assert (again["created"], again["unchanged"]) == (0, 2)
    one, two = await fetch(embedded, _KEPT, UUID(business), mark)
    assert (float(one["total_amount"]), one["lines"], one["tags"]) == (5700.5, 2, 2)
    assert (one["status"], one["payment_method"]) == ("pending", "transfer")
    assert (one["customer"], one["phone_number"]) == ("Ada Okafor", "+2348031112223")
    assert (one["channel"], one["notes"]) == ("whatsapp", "Soft, please")
    assert (float(two["total_amount"]), two["amount_paid"], two["channel"]) == (2900, 0, "other")
    assert two["occurred_at"].isoformat() == "2025-03-02T08:30:00+00:00"
    for kept in (one, two):
        assert (kept["recorded_by_name"], kept["entry_source"]) == ("Import", "import")
    ids = [str(one["id"]), str(two["id"])]
    [events] = await fetch(embedded, _TOLD, UUID(business), ids)
    assert events["times"] == 2
    [stock] = await fetch(embedded, _ON_HAND, sku)
    assert float(stock["on_hand"]) == -3.5


async def test_json_lines_say_the_same_as_a_table(
    command: Command, business: str, embedded: Embedded, tmp_path: Path, sku: str, mark: str
) -> None:
    """An order is the same however it is spelt, so what a table brought isn't brought again."""
    file = table(tmp_path, f"{mark}-1,{SOLD},{sku},,1500.50,2,product,Bola,,cash,,,,a | b,")
    assert command.json(*arguments("orders", file, business))["created"] == 1
    same = {
        "tags": ["a", "b"],
        "customer_name": " Bola",
        "items": [{"quantity": 2.0, "product_sku": sku, "custom_price": 1500.5}],
        "occurred_at": "2025-03-01T11:00:00+01:00",
        "row_key": f"{mark}-1",
    }
    other = {
        "row_key": f"{mark}-2",
        "items": [{"product_name": "Yam", "custom_price": 900, "quantity": 1}],
        "occurred_at": SOLD,
        "amount_paid": 900,
        "service_mode": "dine_in",
        "covers": 2,
    }
    told = command.json(*arguments("orders", lines(tmp_path, same, "", other), business))
    assert (told["orders"], told["created"], told["unchanged"]) == (2, 1, 1)
    kept = await fetch(embedded, _KEPT, UUID(business), mark)
    assert [(float(one["total_amount"]), one["status"]) for one in kept] == [
        (3001, "pending"),
        (900, "completed"),
    ]


async def test_a_table_with_mistakes_records_nothing(
    command: Command, business: str, embedded: Embedded, tmp_path: Path, sku: str, mark: str
) -> None:
    """Every wrong cell is named by line and column, of form and rules alike."""
    file = table(
        tmp_path,
        f"{mark}-1,{SOLD},{sku},,,1,,,,,,,,,",
        f"{mark}-2,yesterday,NOT-{mark},,,many,,,,gold,-1,,,,",
        f"{mark}-3,,,Yam,,1,,,0803,,1.005,,shop,,",
        f"{mark}-4,{SOLD},{sku},,,1,fee,,,,,,,,",
        f"{mark}-4,2025-03-02T10:00:00Z,,,5,0,,,,,,,,,",
        f",{SOLD},,Yam,5,1,,,,,,,,,",
        f"{mark}-5,2999-01-01T00:00:00Z,,Yam,5,1,,,,,,50,,,",
        f"{mark}-1,{SOLD},{sku},,,1,,,,,,,,,",
        f"{mark}-6,{SOLD},,Yam,5,1,,,,,,50,,,",
    )
    told = command.json(*arguments("orders", file, business), code=1)
    assert named(told) == {
        (3, "occurred_at"), (3, "product_sku"), (3, "quantity"), (3, "payment_method"),
        (3, "amount_paid"),
        (4, "occurred_at"), (4, "custom_price"), (4, "customer_phone"), (4, "amount_paid"),
        (4, "channel"),
        (5, "product_sku"),
        (6, "occurred_at"), (6, "product_name"), (6, "quantity"),
        (7, "row_key"), (8, "occurred_at"), (8, "discount_amount"), (9, "row_key"),
        (10, "discount_amount"),
    }  # fmt: skip
    reasons = {(e["line"], e["column"]): e["reason"] for e in told["errors"]}
    assert reasons[3, "product_sku"] == "is no sku of this book"
    assert "line 2" in reasons[9, "row_key"]
    assert "--now" in reasons[4, "occurred_at"]
    assert await fetch(embedded, _KEPT, UUID(business), mark) == []


async def test_json_lines_with_mistakes_record_nothing(
    command: Command, business: str, embedded: Embedded, tmp_path: Path, mark: str
) -> None:
    """Every wrong field is named by its line and its path; what is no order, by its line."""
    good = {"items": [{"product_name": "Yam", "custom_price": 5, "quantity": 1}]}
    file = lines(
        tmp_path,
        {**good, "row_key": f"{mark}-1", "occurred_at": SOLD},
        {**good, "row_key": 7, "occurred_at": SOLD, "status": "completed"},
        '{"row_key": "half',
        "[]",
        {
            "row_key": f"{mark}-2",
            "items": [{"product_sku": "none", "quantity": "2 plates"}],
            "notes": 1,
        },
        {**good, "row_key": f"{mark}-1", "occurred_at": SOLD},
        {**good, "row_key": f"{mark}-3", "occurred_at": SOLD, "customer_id": str(uuid4())},
        {**good, "row_key": f"{mark}-4", "occurred_at": SOLD, "store_name": "Nowhere"},
        '{"row_key": "twice", "row_key": "twice"}',
    )
    told = command.json(*arguments("orders", file, business), code=1)
    assert named(told) == {
        (2, "row_key"), (2, "status"), (3, None), (4, None), (5, "items[0].product_sku"),
        (5, "items[0].quantity"), (5, "notes"), (5, "occurred_at"), (6, "row_key"),
        (7, "customer_id"), (8, "store_name"), (9, None),
    }  # fmt: skip
    assert await fetch(embedded, _KEPT, UUID(business), mark) == []


async def test_a_key_keeps_its_content(
    command: Command, business: str, embedded: Embedded, tmp_path: Path, mark: str
) -> None:
    """Other content under a key that was imported is an error of its row, and changes nothing."""
    row = f"{mark}-1,{SOLD},,Yam,5,1,,,,,,,,,"
    assert command.json(*arguments("orders", table(tmp_path, row), business))["created"] == 1
    changed = [row.replace(",5,1,", ",6,1,"), f"{mark}-2,{SOLD},,Yam,5,1,,,,,,,,,"]
    told = command.json(*arguments("orders", table(tmp_path, *changed), business), code=1)
    assert named(told) == {(2, "row_key")}
    [kept] = await fetch(embedded, _KEPT, UUID(business), mark)
    assert kept["total_amount"] == 5


async def test_wrong_orders_are_put_aside_and_mended(
    command: Command, business: str, embedded: Embedded, tmp_path: Path, mark: str
) -> None:
    """With --skip-wrong the others are recorded; the file of the wrong ones is importable."""
    file = table(
        tmp_path,
        f"{mark}-1,{SOLD},,Yam,5,1,,,,,,,,,",
        f"{mark}-2,{SOLD},,Yam,5,many,,,,,,,,,",
        f"{mark}-2,,,Rice,7,1,,,,,,,,,",
        f"{mark}-3,{SOLD},,Yam,5,1,,,,,,,,,",
    )
    told = command.json(*arguments("orders", file, business, "--skip-wrong"))
    assert (told["orders"], told["created"], told["wrong"]) == (3, 2, 1)
    aside = Path(told["wrongFile"])
    assert aside == file.with_name("orders.csv.wrong.jsonl")
    [wrong] = [json.loads(line) for line in aside.read_text("utf-8").splitlines()]
    assert [(e["line"], e["column"]) for e in wrong["errors"]] == [(3, "quantity")]
    assert (wrong["items"][0]["quantity"], wrong["items"][1]["custom_price"]) == ("many", 7)
    wrong["items"][0]["quantity"] = 2
    aside.write_text(json.dumps(wrong), "utf-8")
    assert command.json(*arguments("orders", aside, business))["created"] == 1
    kept = await fetch(embedded, _KEPT, UUID(business), mark)
    assert [float(one["total_amount"]) for one in kept] == [5, 17, 5]


async def test_what_only_the_moment_refuses_leaves_the_others(
    command: Command, business: str, embedded: Embedded, tmp_path: Path, sku: str, mark: str
) -> None:
    """Sales of now need stock: who lacks it is named, the others are there and stay."""
    file = table(
        tmp_path,
        f"{mark}-1,,,Yam,5,1,,,,,,,,,",
        f"{mark}-2,,{sku},,,1,,,,,,,,,",
        f"{mark}-3,,,Yam,5,1,,,,,,,,,",
    )
    for created, unchanged in ((2, 0), (0, 2)):
        told = command.json(*arguments("orders", file, business, "--now"), code=1)
        assert (told["created"], told["unchanged"]) == (created, unchanged)
        [error] = told["errors"]
        assert (error["line"], error["column"]) == (3, None)
        assert f"Rice {mark}" in error["reason"]
    kept = await fetch(embedded, _KEPT, UUID(business), mark)
    assert [one["entry_source"] for one in kept] == ["import", "import"]


@asynccontextmanager
async def kept(embedded: Embedded, sku: str) -> AsyncIterator[None]:
    """Nobody can sell this product inside the block."""
    connection = await asyncpg.connect(embedded.url)
    transaction = connection.transaction()
    await transaction.start()
    assert await connection.fetch(_SOLD_BY_ID, sku)
    yield
    await transaction.rollback()
    await connection.close()


@pytest.mark.proof
async def test_a_killed_import_goes_on_where_it_stopped(
    command: Command, business: str, embedded: Embedded, tmp_path: Path, sku: str, mark: str
) -> None:
    """However it ended, the next run records what is missing and nothing twice."""
    count, free = 400, 300
    other = tmp_path / "other.csv"
    other.write_text(f"name,sku,price\nYam {mark},{mark}-Y,2500\n", "utf-8")
    command.json(*arguments("products", other, business))
    rows = [
        f"{mark}-{number},{SOLD},{sku if number < free else f'{mark}-Y'},,,1,,Guest {number % 7},,"
        "cash,2500,,,,"
        for number in range(count)
    ]
    args = arguments("orders", table(tmp_path, *rows), business)
    recorded = 0
    # The last ones wait for a product that is kept: it can't have ended before it is killed.
    async with kept(embedded, f"{mark}-Y"):
        with command.start(*args, "--json") as process:
            while recorded < 20:
                assert process.poll() is None, process.communicate()
                recorded = len(await fetch(embedded, _KEPT, UUID(business), mark))
            process.send_signal(signal.SIGKILL)
            process.communicate()
    await deserted(embedded)
    before = len(await fetch(embedded, _KEPT, UUID(business), mark))
    assert 20 <= before <= free
    told = command.json(*args)
    assert (told["created"], told["unchanged"]) == (count - before, before)
    assert len(await fetch(embedded, _KEPT, UUID(business), mark)) == count
    [stock] = await fetch(embedded, _ON_HAND, sku)
    assert stock["on_hand"] == -free
    assert command.json(*args)["unchanged"] == count


async def test_two_imports_of_one_file_record_it_once(
    command: Command, business: str, embedded: Embedded, tmp_path: Path, mark: str
) -> None:
    """Both end well, and share the work."""
    rows = [f"{mark}-{number},{SOLD},,Yam,5,1,,Guest,,,,,,," for number in range(60)]
    args = arguments("orders", table(tmp_path, *rows), business)
    runs = [asyncio.to_thread(command.json, *args) for _ in range(2)]
    told = await asyncio.gather(*runs)
    assert [one["created"] + one["unchanged"] for one in told] == [60, 60]
    assert sum(one["created"] for one in told) == 60
    kept = await fetch(embedded, _KEPT, UUID(business), mark)
    assert len(kept) == 60
    assert {one["customer"] for one in kept} == {"Guest"}


def test_what_is_no_file_of_orders_is_told(command: Command, business: str, tmp_path: Path) -> None:
    """A wrong header, a table that breaks off, bytes that are no text, a folder, no file."""
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("row_key,qty,quantity\n1,2,3\n", "utf-8")
    told = command.json(*arguments("orders", wrong, business, "--skip-wrong"), code=1)
    assert named(told) == {(1, "qty")}
    broken = table(tmp_path, "1,,,Yam,5,1,,,,,,,,,", '2,,,"Yam,5,1,,,,,,,,,')
    told = command.json(*arguments("orders", broken, business, "--now", "--skip-wrong"), code=1)
    assert [error["line"] for error in told["errors"]] == [3]
    broken.write_bytes(HEADER.encode() + b"\n1,,,Y\xe4m,5,1,,,,,,,,,\n")
    told = command.json(*arguments("orders", broken, business, "--now"), code=1)
    assert named(told) == {(2, "product_name")}
    assert "pipe" in command.refusal(*arguments("orders", tmp_path, business))
    assert "no file" in command.refusal(*arguments("orders", tmp_path / "none.csv", business))
