"""`python -m story record` plays the story and keeps the answers; `document` describes by them."""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from story.play import play
from story.recording import read, write
from tillhouse import __version__
from tillhouse.app import PRODUCT
from tillhouse.db.embedded import Embedded
from tillhouse.reference.openapi import describe

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "tests/wire/recorded.json"
DOCUMENT = ROOT / "src/tillhouse/reference/openapi.json"


def main() -> None:
    """Play it on a database of its own, or describe what was kept."""
    parser = argparse.ArgumentParser(prog="python -m story", description=__doc__)
    parser.add_argument("what", choices=["record", "document"])
    parser.add_argument("--source", type=Path, help="src of another version, to play against it")
    given = parser.parse_args()
    # The server that plays the story serves a document, which may be missing or half merged.
    _describe(read(RECORDED))
    if given.what == "record":
        exchanges = _played(given.source)
        write(RECORDED, exchanges)
        print(f"Wrote {len(exchanges)} exchanges to {RECORDED.relative_to(ROOT)}.")
    else:
        print(f"Wrote {DOCUMENT.relative_to(ROOT)}.")


def _describe(exchanges: list[dict[str, Any]]) -> None:
    DOCUMENT.write_text(text_of(describe(PRODUCT, exchanges, __version__)), encoding="utf-8")


def text_of(document: dict[str, Any]) -> str:
    """The document as the file has it."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _played(source: Path | None) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="tillhouse-story-") as folder:
        server = Embedded.start(Path(folder))
        try:
            return play(server.url, source)
        finally:
            server.release()


if __name__ == "__main__":
    main()
