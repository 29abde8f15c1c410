"""The guides: the Markdown of docs/, in the installed package or in the source tree beside it."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import tillhouse


def guides_folder() -> Traversable:
    """The folder that has them."""
    packed = files("tillhouse") / "reference" / "guides"
    return packed if packed.is_dir() else Path(tillhouse.__file__).parents[2] / "docs"
