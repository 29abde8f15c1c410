"""Phone numbers: one number has one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.kit.phone import PhoneText, e164

COUNTRIES = st.sampled_from(["NG", "GB", "US", "IT", "DE", "IN", "BR", "ZZ", ""])


@pytest.mark.parametrize(
    ("written", "country", "kept"),
    [
        ("08030000000", "NG", "+2348030000000"),
        ("(0803) 000-0000", "NG", "+2348030000000"),
        ("2348030000000", "NG", "+2348030000000"),
        (" +234 803 000 0000 ", "US", "+2348030000000"),
        ("+234 (0)803 000 0000", "NG", "+2348030000000"),
        ("020 7946 0018", "GB", "+442079460018"),
        ("06 698 12345", "IT", "+390669812345"),
        ("011 44 20 7946 0018", "US", "+442079460018"),
        ("+15551234567", "", "+15551234567"),
        # Seven digits with its country's code: one of the shortest that there are.
        ("+683 4002", "NG", "+6834002"),
    ],
)
def test_spellings_become_one(written: str, country: str, kept: str) -> None:
    """National numbers as dialled in the country, international ones anywhere."""
    assert e164(written, country) == kept


@pytest.mark.parametrize(
    ("written", "country"),
    [
        ("", "NG"),
        ("+", "NG"),
        ("0803", "NG"),
        ("08030000000", "ZZ"),
        ("08030000000", ""),
        ("+999 123 4567", "NG"),
        ("1-800-FLOWERS", "US"),
        ("08030000000 ext. 5", "NG"),
        ("08030000000;ext=5", "NG"),
        ("tel:+2348030000000", "NG"),
        ("+234 803 000 0000, +234 803 000 0001", "NG"),
        ("٠٨٠٣٠٠٠٠٠٠٠", "NG"),
        ("0" * 39, "NG"),
        ("+2348030000000\n1", "NG"),
        ("+234000000000000", "NG"),
    ],
)
def test_what_is_no_number_is_refused(written: str, country: str) -> None:
    """With a sentence that says how one is written."""
    with pytest.raises(ValueError, match="must be a phone number such as"):
        e164(written, country)


@given(st.from_regex(r"\A\+?[0-9(][0-9 ().\-/]{2,38}\Z"), COUNTRIES)
def test_what_is_kept_is_its_own_spelling(written: str, country: str) -> None:
    """Read again, anywhere, it is the same number."""
    try:
        kept = e164(written, country)
    except ValueError:
        return
    assert e164(kept, "") == e164(kept, "GB") == kept


@given(st.text(max_size=60))
def test_any_text_is_taken_or_refused(written: str) -> None:
    """Nothing that somebody sends ends in another error."""
    try:
        kept = PhoneText.from_wire(written).e164("NG")
    except ValueError:
        return
    assert kept.startswith("+")
