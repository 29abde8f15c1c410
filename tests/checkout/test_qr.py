"""The QR code of a link: a golden one that readers have read, and how much of it is drawn."""

import hashlib
import re

import segno

from tillhouse.checkout.pages import image

_URL = "https://till.example/pay/x"
_DRAWN = re.compile(r'stroke="#111" d="([^"]+)"')
_RUN = re.compile(r"([Mm])(-?\d+) ?(-?[\d.]+)h(\d+)")


def test_a_code_is_the_one_that_readers_have_read() -> None:
    """OpenCV and ZXing read the address in it; any change of the image changes this digest."""
    assert hashlib.sha256(image(_URL)).hexdigest() == (
        "bc3bfafb6f847928a7f2daa93c76813c4e8741ec927256c599f52ab0bb7683af"
    )


def test_an_image_draws_every_dark_module() -> None:
    """As many units of line as there are dark modules, in a square with a quiet border of four."""
    drawn = image(_URL).decode()
    path = _DRAWN.search(drawn)
    assert path is not None
    matrix = segno.make_qr(_URL, error="m").matrix
    assert sum(int(run) for *_, run in _RUN.findall(path[1])) == sum(map(sum, matrix))
    assert f'viewBox="0 0 {len(matrix) + 8} {len(matrix) + 8}"' in drawn


def test_the_longest_address_has_a_code() -> None:
    """A link's address grows with the operator's own: a code holds far more than one."""
    assert image("https://till.example/" + "a" * 600).startswith(b"<svg ")
