"""How a search is read, by the pure rule: as a number from its fifth digit on."""

from tillhouse.customers import rules


def test_five_digits_are_a_number() -> None:
    """Four may be a part of a name, such as that of a flat."""
    assert rules.asked("08031", "NG").phone_number is not None
    assert rules.asked("0803", "NG") == rules.CustomerSearch(words="0803")
