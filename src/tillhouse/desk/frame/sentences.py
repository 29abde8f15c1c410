"""The catalogue: every sentence of the pages by its name, from the files of each area."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from importlib.resources import files
from typing import Any

from tillhouse.kit import countries
from tillhouse.kit.money import NO_AMOUNT, NO_NUMBER
from tillhouse.kit.values import NO_COUNTRY, NO_CURRENCY, NO_ZONE

_FILES = "english*.toml"


def _read() -> Iterator[tuple[str, str]]:
    for area in files("tillhouse.desk").iterdir():
        for file in area.iterdir() if area.is_dir() else ():
            if fnmatch(file.name, _FILES):
                yield from _flat(tomllib.loads(file.read_text(encoding="utf-8")))


def _flat(node: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in node.items():
        if isinstance(value, str):
            yield prefix + name, value
        else:
            yield from _flat(value, f"{prefix}{name}.")


SENTENCES: Mapping[str, str] = dict(_read())


def sentence(name: str, /, **values: object) -> str:
    """A sentence with these values in it; one that the catalogue lacks is an error of ours."""
    text = SENTENCES[name]
    return text.format(**values) if values else text


def _named(kind: str) -> list[tuple[str, str]]:
    start = f"{kind}."
    return [
        (name.removeprefix(start), text)
        for name, text in SENTENCES.items()
        if name.startswith(start)
    ]


# Codes with their names, by the order of the names.
COUNTRIES = list(countries.NAMES.items())
CURRENCIES = [(code, f"{name} ({code})") for code, name in _named("currency")]


def countries_with(code: str) -> list[tuple[str, str]]:
    """The countries to choose from, with one that was chosen elsewhere and has no name here."""
    is_named = not code or code in countries.NAMES
    return COUNTRIES if is_named else [(code, code), *COUNTRIES]


def counted(name: str, count: int, /, **values: object) -> str:
    """A sentence about one or several things: `NAME.one` or `NAME.many`."""
    return sentence(f"{name}.{'one' if count == 1 else 'many'}", count=count, **values)


# Sentences of operations for programs, as pages say them to people.
_FAULTS = {
    NO_AMOUNT: "fault.number",
    NO_NUMBER: "fault.number",
    NO_COUNTRY: "fault.country",
    NO_CURRENCY: "fault.currency",
    NO_ZONE: "fault.time_zone",
}


# An operation that a sentence sends programs to, by the first name of its address.
_CALL = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE) /(?:v1|api)/([a-z-]+)[^\s,.;:)]*")


def for_people(message: str) -> str:
    """A sentence of an operation that names the page instead of another operation."""
    return _CALL.sub(lambda call: SENTENCES.get(f"place.{call[1]}", call[0]), message)


def fault(message: str) -> str:
    """The fault of a field, in words for people."""
    return SENTENCES[_FAULTS[message]] if message in _FAULTS else for_people(message)


def label(field: str) -> str:
    """The name of a field in a list of faults, as forms call it."""
    return SENTENCES.get(f"field.{field}") or field.replace("_", " ")
