"""Which passwords nobody should choose."""

import pytest

from tillhouse.kit import passwords

GUESSED = [
    "password12",
    "Password123",
    "PASSWORD!!!!",
    "123dragon456",
    "1234567890",
    "9876543210",
    "abcdefghijkl",
    "qwertyuiop",
    "1q2w3e4r5t",
    "aaaaaaaaaaaa",
    "121212121212",
    "i l o v e y o u 1",
    "trustno1trustno1"[:8] + "00",
]
GOOD = [
    "a long phrase is best",
    "correct horse battery",
    "another horse battery",
    "kx7-Qd0vP2",
    "4829103657",
    "\u05e1\u05d9\u05e1\u05de\u05d4 \u05d0\u05e8\u05d5\u05db\u05d4",
]


@pytest.mark.parametrize("password", GUESSED)
def test_what_is_guessed_first_is_refused(password: str) -> None:
    """Common ones, common words with digits and signs around them, rows and repetitions."""
    assert passwords.fault(password) == passwords.TOO_SIMPLE


@pytest.mark.parametrize("password", GOOD)
def test_what_is_not_guessed_passes(password: str) -> None:
    """Phrases, random characters, any script."""
    assert passwords.fault(password) is None


def test_a_password_has_ten_characters() -> None:
    """Nine are too few, whatever they are."""
    assert passwords.fault("kx7-Qd0vP") == "must have at least 10 characters"


def test_the_list_holds_what_it_says() -> None:
    """Ten thousand and some, in lower case, none with blanks."""
    words = passwords.common()
    assert 10_000 <= len(words) <= 11_000
    assert all(word == word.lower() and word.strip() == word for word in words)
    assert {"123456", "password", "qwerty", "dragon"} <= words
