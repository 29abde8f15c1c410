"""`tillhouse import customers`: all of a file or nothing of it, and a second time nothing more."""

from pathlib import Path
from uuid import UUID

from tests.cli.command import Command
from tests.cli.test_commands import fetch
from tillhouse.db.embedded import Embedded

_KEPT = """
    SELECT c.name, c.email, c.phone_number, c.whatsapp_number, c.notes
    FROM customers c JOIN books b ON b.id = c.book_id
    WHERE b.business_id = $1 AND b.environment = $2 ORDER BY c.id
"""
_TOLD = """
    SELECT e.type, count(*) AS times FROM webhook_events e JOIN books b ON b.id = e.book_id
    WHERE b.business_id = $1 AND b.environment = $2 AND e.type LIKE 'contact.%'
    GROUP BY e.type ORDER BY e.type
"""
_TALLY = """
    SELECT sum(t.customers) AS customers FROM customer_tallies t JOIN books b ON b.id = t.book_id
    WHERE b.business_id = $1 AND b.environment = $2
"""


def written(folder: Path, *lines: str) -> str:
    """A file of these lines below the usual header."""
    path = folder / "customers.csv"
    path.write_text("\n".join(["Name,Email,Phone,WhatsApp,Notes", *lines]), "utf-8")
    return str(path)


def arguments(file: str, business: str, environment: str) -> list[str]:
    """The command line."""
    return ["import", "customers", file, "--business", business, "--environment", environment]


async def test_a_file_is_imported_once(
    command: Command, business: str, embedded: Embedded, tmp_path: Path
) -> None:
    """An existing customer is changed by the file, or left; each change emits its event."""
    people = [
        "Ada Okafor,ADA@example.com,+234 803 000 0000,,Likes it hot",
        "Chinedu Eze,,+2348030000001,+2348050000000,",
        "Walk-in,,,,",
        "walk-in,,,,",
    ]
    args = arguments(written(tmp_path, *people), business, "test")
    first = command.json(*args)
    assert (first["created"], first["updated"], first["unchanged"]) == (3, 0, 1)
    again = command.json(*args)
    assert (again["created"], again["updated"], again["unchanged"]) == (0, 0, 4)
    people[1] = "Chinedu O. Eze,c@example.com,+2348030000001,,"
    args = arguments(written(tmp_path, *people), business, "test")
    third = command.json(*args)
    assert (third["created"], third["updated"], third["unchanged"]) == (0, 1, 3)
    kept = [tuple(row) for row in await fetch(embedded, _KEPT, UUID(business), "test")]
    assert kept == [
        ("Ada Okafor", "ada@example.com", "+2348030000000", None, "Likes it hot"),
        ("Chinedu O. Eze", "c@example.com", "+2348030000001", "+2348050000000", None),
        ("Walk-in", None, None, None, None),
    ]
    told = [tuple(row) for row in await fetch(embedded, _TOLD, UUID(business), "test")]
    assert told == [("contact.created", 3), ("contact.updated", 1)]
    [tally] = await fetch(embedded, _TALLY, UUID(business), "test")
    assert tally["customers"] == 3


async def test_a_file_with_mistakes_changes_nothing(
    command: Command, business: str, embedded: Embedded, tmp_path: Path
) -> None:
    """Every wrong cell is named by line and column, those that only other rows make wrong too."""
    before = arguments(
        written(tmp_path, "A,a@example.com,+2348030000010,,", "B,b@example.com,+2348030000011,,"),
        business,
        "live",
    )
    assert command.json(*before)["created"] == 2
    file = written(
        tmp_path,
        "Good,good@example.com,,,",
        ",no address,0803,+999 1234567,",
        "C,c@example.com,+2348030000012,,",
        "D,C@example.com,+234 803 000 0012,,",
        "E,a@example.com,+2348030000011,,",
        "F,,12345,,",
    )
    told = command.json(*arguments(file, business, "live"), code=1)
    named = {(error["line"], error["column"]) for error in told["errors"]}
    assert {(3, "name"), (3, "email"), (5, "phone"), (5, "email"), (6, "email"), (7, "phone")} <= (
        named
    )
    assert {line for line, _ in named} == {3, 5, 6, 7}
    kept = [row["name"] for row in await fetch(embedded, _KEPT, UUID(business), "live")]
    assert kept == ["A", "B"]


async def test_many_rows_are_imported_in_one_go(
    command: Command, business: str, embedded: Embedded, tmp_path: Path
) -> None:
    """More than one statement takes."""
    rows = [f"Guest {number},guest{number}@example.com,,," for number in range(1200)]
    args = arguments(written(tmp_path, *rows), business, "live")
    counts = await fetch(embedded, _TALLY, UUID(business), "live")
    before = counts[0]["customers"] or 0
    assert command.json(*args)["created"] == 1200
    assert command.json(*args)["unchanged"] == 1200
    [after] = await fetch(embedded, _TALLY, UUID(business), "live")
    assert after["customers"] == before + 1200
