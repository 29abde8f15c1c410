"""Write docs/sql anew: `python -m statements`, part of `make docs`."""

import asyncio
import sys
import tempfile
from pathlib import Path

import asyncpg

from statements.pages import FOLDER, pages
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import migrate

ROOT = Path(__file__).parents[1]


async def _made(url: str) -> dict[str, str]:
    connection = await asyncpg.connect(url)
    try:
        await migrate(connection)
        return await pages(connection)
    finally:
        await connection.close()


def main() -> None:
    """Write what is new or changed, and delete what is no page any more."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-statements-") as data:
        server = Embedded.start(Path(data))
        try:
            made = asyncio.run(_made(server.url))
        finally:
            server.release()
    folder = ROOT / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, "utf-8")
    sys.stdout.write(f"Wrote {len(made)} files to {FOLDER}.\n")


if __name__ == "__main__":
    main()
