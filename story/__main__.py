"""`python -m story FILE`: play the story and write what was said, one exchange a line."""

import argparse
import tempfile
from pathlib import Path

from story.play import play
from story.recording import write
from tillhouse.db.embedded import Embedded


def main() -> None:
    """Play it on a database of its own."""
    parser = argparse.ArgumentParser(prog="python -m story", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--source", type=Path, help="src of another version, to play against it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tillhouse-story-") as folder:
        server = Embedded.start(Path(folder))
        try:
            exchanges = play(server.url, given.source)
        finally:
            server.release()
    write(given.file, exchanges)
    print(f"Wrote {len(exchanges)} exchanges to {given.file}.")


if __name__ == "__main__":
    main()
