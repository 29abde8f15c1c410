"""The command line: `tillhouse` and its commands, a file each."""

from tillhouse.cli.commands import main

__all__ = ["main"]
