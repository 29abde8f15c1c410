"""`tillhouse import products`: all rows or none, every wrong cell named, twice is once."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.cli.command import Command
from tests.make import Business
from tests.products.catalog import Catalog

HEADER = "name,type,sku,base_price,category,unit,tax_rate,variant,price,tracks_stock,on_hand\n"
MENU = HEADER + (
    "Jollof rice,,JOL,1500.50,Mains,plate,7.5,,,yes,20\n"
    "Cola,,COLA-S,,Drinks,bottle,,33 cl,300,no,\n"
    'Cola,,COLA-L,,drinks,bottle,,"50 cl, cold",450,,\n'
    "Delivery,service,DEL,500,,,,,,,\n"
)


class Till:
    """The command on the tests' own database, and what became of it."""

    def __init__(self, command: Command, catalog: Catalog, folder: Path) -> None:
        self.command = command
        self.catalog = catalog
        self._file = folder / "products.csv"

    def args(self, content: str | bytes, environment: str = "test") -> list[str]:
        """The command line for a file of this content."""
        raw = content.encode() if isinstance(content, str) else content
        self._file.write_bytes(raw)
        business = self.catalog.business.id
        place = ["--business", business, "--environment", environment]
        return ["import", "products", str(self._file), *place]

    def take(self, content: str | bytes, environment: str = "test") -> dict[str, Any]:
        """Import it."""
        return self.command.json(*self.args(content, environment))

    def wrong(self, content: str | bytes) -> list[tuple[int, str | None]]:
        """The places that are named when it is refused."""
        errors = self.command.json(*self.args(content), code=1)["errors"]
        assert all(error["reason"] for error in errors)
        return [(error["line"], error["column"]) for error in errors]

    def refusal(self, content: str) -> str:
        """The messages of the refusal."""
        return self.command.refusal(*self.args(content))


@pytest.fixture
async def till(
    business: Business,
    sql: asyncpg.Connection,
    database_url: str,
    master_key: str,
    tmp_path: Path,
) -> Till:
    """The command for this test's business."""
    command = Command(tmp_path, DATABASE_URL=database_url, MASTER_KEY=master_key)
    return Till(command, await Catalog.open(business, sql), tmp_path)


async def test_a_menu_is_taken_and_the_second_time_nothing_changes(till: Till) -> None:
    """Products, variants and categories are made, told of once, and found again by their skus."""
    first = till.take(MENU)
    assert first["rows"] == 4
    assert (first["created"], first["updated"], first["unchanged"]) == (3, 0, 0)
    assert len(first["notes"]) == 1
    by_name = {p["name"]: p for p in (await till.catalog.api.get("/v1/products")).data}
    rice, cola = by_name["Jollof rice"], by_name["Cola"]
    assert (rice["basePrice"], rice["taxRate"], rice["unit"]) == (1500.5, 7.5, "plate")
    assert rice["variants"][0]["tracksStock"] is True
    assert (cola["type"], cola["basePrice"], cola["sku"]) == ("variable", 300, None)
    assert [(v["name"], v["sku"], v["price"]) for v in cola["variants"]] == [
        ("33 cl", "COLA-S", 300), ("50 cl, cold", "COLA-L", 450)
    ]  # fmt: skip
    assert by_name["Delivery"]["type"] == "service"
    categories = (await till.catalog.api.get("/v1/categories")).data
    assert [one["name"] for one in categories] == ["Drinks", "Mains"]
    again = till.take(MENU)
    assert (again["created"], again["updated"], again["unchanged"]) == (0, 0, 3)
    assert [event for event, _ in await till.catalog.events()] == ["product.created"] * 3


async def test_a_second_run_changes_what_differs(till: Till) -> None:
    """An empty cell and a column that isn't there leave things alone; a new variant is added."""
    till.take(MENU)
    before = {p["name"]: p for p in (await till.catalog.api.get("/v1/products")).data}
    changed = till.take(
        "SKU;Name;Base Price;variant;price\nJOL;Jollof;1600;;\nCOLA-XL;Cola;;1 l;600\n"
        "COLA-S;Cola;;33 cl;\n"
    )
    assert (changed["created"], changed["updated"], changed["notes"]) == (0, 2, [])
    rice = await till.catalog.read(before["Jollof rice"]["id"])
    assert (rice["name"], rice["basePrice"], rice["unit"]) == ("Jollof", 1600, "plate")
    assert rice["variants"] == before["Jollof rice"]["variants"]
    cola = await till.catalog.read(before["Cola"]["id"])
    assert [v["name"] for v in cola["variants"]] == ["33 cl", "50 cl, cold", "1 l"]
    assert [event for event, _ in (await till.catalog.events())[3:]] == ["product.updated"] * 2


async def test_every_wrong_cell_is_named_and_nothing_is_written(till: Till) -> None:
    """By line and column, forms and rules together; a row that is right isn't taken alone."""
    taken = await till.catalog.product("Bread", sku="BREAD", variants=[{"name": "S", "sku": "B-S"}])
    assert taken["type"] == "variable"
    content = HEADER + (
        "Good,,GOOD,1,New category,,,,,,\n"
        ",,,abc,,,101,,,maybe,\n"
        '"Two\nlines",,TWO,1,,,,,,,\n'
        "Cent,,CENT,1.005,,,,,,,\n"
        "Bundle,bundle,BUN,1,,,,,,,\n"
        "Free,,FREE,,,,,,,,\n"
        "Good,,GOOD,1,,,,,,,\n"
        "Slice,,B-S,1,,,,,,,\n"
        "Long,,LONG,1,,,,,,,,,\n"
    )
    assert till.wrong(content) == [
        (3, "name"), (3, "sku"), (3, "base_price"), (3, "tax_rate"), (3, "tracks_stock"),
        (4, "name"), (6, "base_price"), (7, "type"), (8, "base_price"), (9, "sku"),
        (10, "variant"), (11, None),
    ]  # fmt: skip
    assert await till.catalog.names() == ["Bread"]
    assert (await till.catalog.api.get("/v1/categories")).data == []
    assert len(await till.catalog.events()) == 1
    told = till.refusal(content)
    assert "12 cells are wrong" in told
    assert "nothing was imported" in told


async def test_a_file_that_is_no_table_is_told_as_such(till: Till) -> None:
    """Unknown, missing and repeated columns, other encodings, broken quotes, no file."""
    assert till.wrong("name,sku,colour,name\nA,B,C,D\n") == [(1, "colour"), (1, "name")]
    assert till.wrong("name\nA\n") == [(1, "sku")]
    assert till.wrong("") == [(1, "name"), (1, "sku")]
    assert till.wrong("name,sku,base_price\nCaf\xe9,C,1\n".encode("latin-1")) == [(2, None)]
    assert till.wrong('name,sku,base_price\nA,B,1\n"C"x,D,1\n') == [(3, None)]
    assert till.wrong("name,sku,base_price\nA\x00B,C,1\n") != []
    told = till.command.refusal("import", "products", "/nowhere/x.csv", *till.args("")[3:])
    assert "can't be read" in told
    bom = till.take("\ufeffname,sku,base_price\r\nCaf\xe9,C,1\r\n\r\n")
    assert bom["created"] == 1


async def test_rows_of_one_product_agree(till: Till) -> None:
    """Its variants differ in name and sku, and say the same of their product."""
    assert till.wrong(
        "name,sku,unit,variant,price,type\n"
        "Cola,C1,bottle,S,1,\nCola,C2,can,S,1,\nCola,C1,,M,1,simple\nTea,T1,,S,,\n"
    ) == [(3, "unit"), (3, "variant"), (4, "sku"), (4, "type"), (5, "base_price")]


async def test_a_book_has_its_own_products(till: Till) -> None:
    """The live book's import touches nothing of the test book; a stranger's business is none."""
    till.take(MENU)
    assert till.take(MENU, "live")["created"] == 3
    assert len(await till.catalog.names()) == 3
    args = till.args(MENU)
    args[args.index("--business") + 1] = str(UUID(int=1))
    assert "There is no business" in till.command.refusal(*args)


async def test_thousands_of_rows_are_taken_in_one_go(till: Till, sql: asyncpg.Connection) -> None:
    """Batches are one transaction, each product with its event; a wrong last row undoes all."""
    rows = "".join(f"Dish {n},D-{n},{n}\n" for n in range(2_500))
    assert till.wrong(f"name,sku,base_price\n{rows}Last,L,1.001\n") == [(2502, "base_price")]
    assert await till.catalog.names() == []
    made = till.take("name,sku,base_price\n" + rows)
    assert made["created"] == 2_500
    assert len(await till.catalog.events()) == 2_500
    answer = await till.catalog.api.get("/v1/products?limit=1", status=200)
    assert answer.json["meta"]["total"] == 2_500
    assert json.loads(answer.body)["data"][0]["variants"][0]["isImplicit"] is True
