"""A recording as a file: a list in JSON with one exchange a line."""

import json
from pathlib import Path
from typing import Any


def write(path: Path, exchanges: list[dict[str, Any]]) -> None:
    """Write the exchanges."""
    path.write_text(text_of(exchanges), encoding="utf-8")


def text_of(exchanges: list[dict[str, Any]]) -> str:
    """The exchanges as the file has them."""
    lines = (json.dumps(exchange, ensure_ascii=False) for exchange in exchanges)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def read(path: Path) -> list[dict[str, Any]]:
    """The exchanges of a file."""
    return json.loads(path.read_text("utf-8"))
