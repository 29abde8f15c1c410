"""`tillhouse docs`: writes the files that are made from the code; for developers."""

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated

import asyncpg
import typer

import tillhouse
from tillhouse.cli.output import AsJson, CommandError, print_result, stderr_console
from tillhouse.db.dump import dump
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import migrate


def docs(
    *,
    check: Annotated[bool, typer.Option("--check", help="Only compare.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write src/tillhouse/db/schema.sql anew."""
    root = Path(tillhouse.__file__).parents[2]
    if not (root / "pyproject.toml").exists():
        raise CommandError("This is for the source tree of Tillhouse: run `make docs` there.")
    with stderr_console().status("Describing …"):
        made = {
            "src/tillhouse/db/schema.sql": _schema(),
        }  # fmt: skip
    stale = [name for name, text in made.items() if _text(root / name) != text]
    if check and stale:
        raise CommandError(f"Out of date: {', '.join(stale)}. Run `make docs`.")
    for name in stale:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(made[name], encoding="utf-8")
    shown = f"Wrote {', '.join(stale)}." if stale else "Everything is up to date."
    print_result({"written": stale}, as_json=as_json, shown=shown)


def _text(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None


def _schema() -> str:
    with tempfile.TemporaryDirectory(prefix="tillhouse-docs-") as folder:
        server = Embedded.start(Path(folder))
        try:
            return asyncio.run(_dumped(server.url))
        finally:
            server.release()


async def _dumped(url: str) -> str:
    connection = await asyncpg.connect(url)
    try:
        await migrate(connection)
        return await dump(connection)
    finally:
        await connection.close()
