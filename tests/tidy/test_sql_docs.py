"""docs/sql: the hot statements, written out, are the ones that are sent, and can be pasted."""

import asyncpg
import pytest
from statements.pages import FOLDER, pages

from tests.tidy.tree import ROOT


@pytest.fixture(scope="module")
async def written(database_url: str) -> dict[str, str]:
    """The files that `make docs` would write."""
    connection = await asyncpg.connect(database_url)
    try:
        return await pages(connection)
    finally:
        await connection.close()


def test_every_hot_statement_is_written_out(written: dict[str, str]) -> None:
    """File by file, nothing more and nothing less."""
    kept = {path.name: path.read_text("utf-8") for path in (ROOT / FOLDER).iterdir()}
    assert sorted(kept) == sorted(written), f"Run `make docs`: it writes {FOLDER}."
    stale = [name for name, text in written.items() if kept[name] != text]
    assert stale == [], f"Run `make docs`: {FOLDER} is out of date."


async def test_each_can_be_pasted(database_url: str) -> None:
    """A file prepares its statement under its own name, with a type for each parameter."""
    connection = await asyncpg.connect(database_url)
    try:
        for path in sorted((ROOT / FOLDER).glob("*.sql")):
            text = path.read_text("utf-8")
            await connection.execute(text)
            types = await connection.fetchval(
                "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = $1",
                path.stem,
            )
            listed = [line for line in text.splitlines() if line.startswith("--   $")]
            assert types is not None, path.name
            assert len(listed) == len(types), path.name
    finally:
        await connection.close()
