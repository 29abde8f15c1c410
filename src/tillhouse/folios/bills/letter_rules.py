"""The letters that a bill has room for: pure decisions.

Letters that join or run from the right take the printer a tenth of a millisecond each, and each
text of them counts some more; others take it a fraction of that.
"""

from collections.abc import Iterable, Sequence

from tillhouse.orders.receipts.rules import is_shaped

LETTERS_MAX, LETTERS_OF_TEXT, _OTHERS_FOR_ONE = 25_000, 20, 5


def fitting(groups: Iterable[Sequence[str]], left: int) -> tuple[list[bool], int]:
    """Which groups of texts fit in so many letters, one after the other; and how many are left."""
    found: list[bool] = []
    for texts in groups:
        count = sum(map(_letters, texts))
        found.append(count <= left)
        left -= count if count <= left else 0
    return found, left


def _letters(text: str) -> int:
    if is_shaped(text):
        return len(text) + LETTERS_OF_TEXT
    return len(text) // _OTHERS_FOR_ONE
