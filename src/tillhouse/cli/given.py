"""Values from the command line, checked as a request's fields are."""

import sys
from collections.abc import Iterable
from typing import TypeVar
from uuid import UUID

import typer

from tillhouse.cli.output import CommandError, stderr_console
from tillhouse.kit import passwords
from tillhouse.kit.text import Value
from tillhouse.kit.values import NewPassword

V = TypeVar("V", bound=Value)


def value(kind: type[V], name: str, text: str) -> V:
    """The text as a value of that kind, or a usage error that names the fault."""
    try:
        return kind.from_wire(text)
    except ValueError as error:
        raise typer.BadParameter(f"{name} {error}") from None


def id_of(name: str, text: str) -> UUID:
    """An id."""
    try:
        return UUID(text)
    except ValueError:
        raise typer.BadParameter(f"{name} must be an id, such as the lists print them") from None


def new_password(own: Iterable[str], *, from_stdin: bool) -> NewPassword:
    """A password from a pipe, or asked for twice; never from the command line itself."""
    chosen = value(NewPassword, "The password", _from_pipe() if from_stdin else _asked())
    if wrong := passwords.own_fault(chosen, own):
        raise typer.BadParameter(f"The password {wrong}")
    return chosen


def _from_pipe() -> str:
    return sys.stdin.readline().rstrip("\r\n")


def _asked() -> str:
    if not sys.stdin.isatty():
        raise CommandError("There is nobody to ask for the password: pipe it to --password-stdin.")
    console = stderr_console()
    first = console.input("Password: ", password=True)
    if console.input("Again: ", password=True) != first:
        raise CommandError("The two passwords differ: try again.")
    return first
