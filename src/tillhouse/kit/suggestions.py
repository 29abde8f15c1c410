"""The name that somebody meant who mistyped it; a far-fetched guess is left out."""

from collections.abc import Iterable

# A longer name than this is no typing error.
_NAME_MAX = 60
# With fewer letters, every name is near to every other.
_LETTERS_MIN = 3
_REPLACED_FROM = 5
_TWO_EDITS_FROM = 8
# Left out, or added where the thing itself is taken.
_ENDINGS = ("id", "ids")
# Words of other systems for things that have a longer name here.
_ELSEWHERE = {
    "price": ("base_price", "custom_price", "price_delta"),
    "min": ("min_choices",),
    "max": ("max_choices",),
}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that differs by case, separators, an id at the end or a letter or two."""
    known = list(known)
    for meant in _ELSEWHERE.get(name, ()):
        if meant in known:
            return meant
    typed = _plain(name[:_NAME_MAX]) if len(name) <= _NAME_MAX else ""
    best, fewest = None, _TWO_EDITS_FROM
    for candidate in known:
        edits = _apart(typed, _plain(candidate))
        if edits is not None and edits < fewest:
            best, fewest = candidate, edits
    return best


def _plain(name: str) -> str:
    """A name as it is read aloud: `paymentMethod`, `payment-method` and `payment_method`."""
    return "".join(character for character in name.lower() if character.isalnum())


def _apart(typed: str, known: str) -> int | None:
    """How many typing errors there are between two names; None where it is no such error."""
    shorter, longer = sorted((typed, known), key=len)
    if len(shorter) < _LETTERS_MIN:
        return None
    edits_max = 2 if len(shorter) >= _TWO_EDITS_FROM else 1
    for edits in range(edits_max + 1):
        if _is_within(shorter, longer, edits):
            return None if _is_word(shorter, longer) else edits
    is_of_it = longer.startswith(shorter) and longer[len(shorter) :] in _ENDINGS
    return edits_max + 1 if is_of_it else None


def _is_word(one: str, other: str) -> bool:
    """Whether a letter of few is another one: that makes another word, as a tag is no tax."""
    is_short = len(one) == len(other) < _REPLACED_FROM
    return is_short and sorted(one) != sorted(other)


def _is_within(one: str, other: str, edits: int) -> bool:
    """Whether so many letters left out, added, replaced or swapped lead from one to the other."""
    if abs(len(one) - len(other)) > edits:
        return False
    same = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        same += 1
    one, other = one[same:], other[same:]
    if not one or not other or not edits:
        return one == other or len(one) + len(other) <= edits
    if one[:2] == other[1::-1] and _is_within(one[2:], other[2:], edits - 1):
        return True
    rests = ((one[1:], other[1:]), (one[1:], other), (one, other[1:]))
    return any(_is_within(*rest, edits - 1) for rest in rests)
