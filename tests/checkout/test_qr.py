"""QR codes: a golden one that readers have read, and what every code has."""

import hashlib

import pytest

from tillhouse.checkout.qr import code, svg

# Read by ZXing and OpenCV, an outside judge, run once.
_GOLDEN = "https://till.example/pay/x"


def _lines(text: str) -> list[str]:
    return ["".join("#" if dark else "." for dark in row) for row in code(text)]


def test_a_code_is_the_one_that_readers_have_read() -> None:
    """Any change of a module is a change of this digest."""
    digest = hashlib.sha256("\n".join(_lines(_GOLDEN)).encode()).hexdigest()
    assert digest == "7cdf12b0090e869a7f54be8aa7bbd9e447aa7018b642b406428f99d666fc6175"


@pytest.mark.parametrize("length", [1, 14, 15, 62, 84, 106, 180, 213, 331, 666])
def test_a_code_has_its_finders_and_timing(length: int) -> None:
    """In three corners, whatever the version; the fourth has none."""
    lines = _lines("x" * length)
    size = len(lines)
    finder = ["#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"]
    corners = [(0, 0), (0, size - 7), (size - 7, 0)]
    for top, left in corners:
        assert [lines[top + y][left : left + 7] for y in range(7)] == finder
    timing = lines[6][7 : size - 7]
    assert timing == ("." + "#." * size)[: len(timing)]
    assert (size - 17) % 4 == 0


def test_a_text_that_is_too_long_is_refused() -> None:
    """No code is made that no reader could read."""
    with pytest.raises(ValueError, match="too long"):
        code("x" * 667)


def test_an_image_draws_every_dark_module() -> None:
    """As many units of line as there are dark modules."""
    image = svg("hello", "Scan")
    drawn = image.partition('stroke="#111" d="')[2].partition('"')[0]
    runs = [int(part.partition("h")[2]) for part in drawn.split("M")[1:]]
    assert sum(runs) == sum(sum(row) for row in code("hello"))
