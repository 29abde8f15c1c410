"""The one list of what is pure: it decides or describes, and does no input or output.

A module is pure by its name or that of its folder, wherever it lies, or because its docstring
says so. To make a module pure, or no longer so, change its name, its docstring or this list.
"""

import ast
import re

from tests.tidy.tree import PACKAGE, Source, python

# Names of modules and of folders; with `_rules` at its end, any name.
NAMES = {
    "catalogue",
    "columns",
    "configuration",
    "errors",
    "facts",
    "kit",
    "lines",
    "making",
    "roles",
    "rules",
    "scopes",
    "sheet",
    "signing",
    "terms",
    "totals",
    "types",
    "values",
}
# Libraries that compute and do nothing else; any other is taken for one that does.
LIBRARIES = {
    "base64", "binascii", "bisect", "collections", "contextlib", "copy", "datetime", "decimal",
    "email", "enum", "functools", "gc", "hashlib", "heapq", "hmac", "ipaddress", "itertools",
    "json", "math", "msgspec", "operator", "phonenumbers", "re", "string", "types", "typing",
    "unicodedata", "urllib", "uuid", "zoneinfo",
}  # fmt: skip
# Time, chance and a list of words come from these, with what they need for it.
SOURCES = {
    "tillhouse.kit.clock": set[str](),
    # Reads its own list of words, once.
    "tillhouse.kit.passwords": {"gzip", "importlib"},
    "tillhouse.kit.ids": {"os", "random", "secrets", "struct", "threading", "time"},
    "tillhouse.accounts.second_factor.rules": {"cryptography"},
    "tillhouse.kit.secrets": {"cryptography", "secrets", "zlib"},
}
# Functions that read the clock or draw at random: a pure module gets the value as an argument.
DRAWING = {
    "tillhouse.kit.clock": {"now"},
    "tillhouse.kit.ids": {
        "CHANCE", "new_id", "public_reference", "random_base62", "random_text", "short_code",
    },
    "tillhouse.kit.secrets": {
        "new_api_key", "new_secret", "new_webhook_secret", "seal",
    },
}  # fmt: skip

_CLAIM = re.compile(r"\bpure\b", re.IGNORECASE)


def is_pure(source: Source) -> bool:
    """Whether a module of the package is pure, by its name, its folder's or its own word."""
    *folders, name = source.path.removeprefix(f"{PACKAGE}/").removesuffix(".py").split("/")
    if "store" in (*folders, name):
        return False
    is_named = bool(NAMES & {*folders, name}) or name.endswith("_rules")
    return is_named or bool(_CLAIM.search(ast.get_docstring(source.tree) or ""))


def pure_modules() -> list[Source]:
    """Every pure module of the package."""
    return [source for source in python(PACKAGE) if is_pure(source)]
