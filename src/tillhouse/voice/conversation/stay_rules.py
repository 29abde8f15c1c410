"""The stays that the context of a call names: a pure decision."""

import re

_NAMES = re.compile(r"\b(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Za-z]{8})\b")
_NAMES_MAX = 20


def named_in(context: str) -> list[str]:
    """Everything in a text that may be the id or the code of a stay, as they are spelt."""
    found = (match.group() for match in _NAMES.finditer(context))
    return [name.lower() if "-" in name else name.upper() for name in found][:_NAMES_MAX]
