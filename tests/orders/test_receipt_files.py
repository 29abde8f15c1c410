"""Receipts as PDF: they open, say what the page says, and take any name."""

import asyncio
import hashlib
import io
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from tests.api import Response
from tests.orders.conftest import Open
from tests.orders.receipts import path_of, receipt_url
from tests.orders.shop import ORDERS, Body, Shop, fee, line
from tillhouse.orders.receipts.page import Paper
from tillhouse.orders.receipts.pdf import LACKING, print_sheet, unpacked_fonts
from tillhouse.orders.receipts.rules import Sheet, SheetLine, Sum

MM = 72 / 25.4
AT = datetime(2026, 1, 31, tzinfo=UTC)
PLAIN = Sheet(
    business="Ada's",
    place=[],
    marks=["Test", "Cancelled", "Copy"],
    code="7KQ4M2XB",
    facts=[("Order", "7KQ4M2XB")],
    currency="NGN",
    lines=[],
    sums=[Sum("Total", "NGN 1.00", True)],
    footer="Receipt 1",
)


async def _file(shop: Shop, order: Body, more: str = "") -> Response:
    path = path_of(await receipt_url(shop, order)).replace("?", ".pdf?")
    return await shop.business.anybody.get(path + more, status=200)


def _read(body: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(body), strict=True)


def _text(reader: PdfReader) -> str:
    return "\n".join(page.extract_text() for page in reader.pages)


def _size(reader: PdfReader) -> tuple[int, int]:
    box = reader.pages[0].mediabox
    return round(float(box.width) / MM), round(float(box.height) / MM)


def _printed(paper: Paper, **changes: Any) -> PdfReader:
    with unpacked_fonts() as fonts:
        sheet = msgspec.structs.replace(PLAIN, **changes)
        return _read(print_sheet(sheet, paper, AT, fonts))


def _line(name: str, *details: str) -> SheetLine:
    return SheetLine(
        quantity="2", name=name, details=list(details), unit_price="1.00", amount="2.00"
    )


async def test_a_file_says_what_the_page_says(open_shop: Open) -> None:
    """On A4, named after the order, to be looked at in the browser."""
    shop = await open_shop(business_name="Ada's Kitchen", currency="NGN")
    order = await shop.sell(fee(1500.5), fee(20, name="Zwölf Boxkämpfer"), amount_paid=2000)
    file = await _file(shop, order)
    assert file.headers["content-type"] == "application/pdf"
    name = f'inline; filename="receipt-{order["shortCode"]}.pdf"'
    assert file.headers["content-disposition"] == name
    reader = _read(file.body)
    assert _size(reader) == (210, 297)
    assert reader.metadata is not None
    assert order["shortCode"] in (reader.metadata.title or "")
    text = _text(reader)
    for word in ("Ada's Kitchen", order["shortCode"], "Delivery", "Zwölf Boxkämpfer", "TEST",
                 "NGN 1,520.50", "NGN 479.50", "Change"):  # fmt: skip
        assert word in text


@pytest.mark.parametrize("environment", ["test", "live"])
async def test_every_paper_has_words_for_a_method_and_the_line_that_went_back(
    open_shop: Open, environment: str
) -> None:
    """No name of the API, and no id: of a product, and of a line that is none."""
    shop = await open_shop(environment=environment)
    tea = await shop.product(15, name="Tea", tax_rate=10)
    names = {"cash": "Cash", "transfer": "Bank transfer", "pos": "Card", "card": "Card",
             "other": "Other"}  # fmt: skip
    for method, name in names.items():
        order = await shop.sell(
            fee(500.5, name="Wrapping"), line(tea, 3), amount_paid=550, payment_method=method
        )
        lines = [{"item_id": item["id"], "quantity": 1} for item in order["items"]]
        await shop.api.post(f"{ORDERS}/{order['id']}/refunds", {"lines": lines}, status=201)
        for paper in ("", "&paper=80mm"):
            text = _text(_read((await _file(shop, order, paper)).body))
            for words in (name, "Given back", "1 × Wrapping", "1 × Tea", "of which tax 1.50"):
                assert words in text
            assert ("TEST" in text) == (environment == "test")
            assert not {"pos", "card", "cash", "other"} & set(text.split())


async def test_a_roll_is_as_long_as_what_stands_on_it(shop: Shop) -> None:
    """80 mm wide; more lines, more paper."""
    short = _read((await _file(shop, await shop.sell(), "&paper=80mm")).body)
    more = await shop.sell(*(fee(1, name=f"Line {n}") for n in range(30)))
    long = _read((await _file(shop, more, "&paper=80mm")).body)
    assert _size(short)[0] == _size(long)[0] == 80
    assert len(short.pages) == len(long.pages) == 1
    assert 60 < _size(short)[1] < 130
    assert _size(short)[1] + 29 * 8 < _size(long)[1] < _size(short)[1] + 29 * 14
    assert "Line 29" in _text(long)


def test_a_roll_that_is_too_long_goes_on_after_a_cut() -> None:
    """No page can be longer than 5 m; none is left half empty, and no line is lost."""
    reader = _printed("80mm", lines=[_line(f"Line {n}.", "x " * 900) for n in range(60)])
    heights = [round(float(page.mediabox.height) / MM) for page in reader.pages]
    assert heights[:-1] == [5000] * (len(heights) - 1)
    # A line with so many details takes some 110 mm.
    assert sum(heights) < 60 * 130
    assert len(heights) == 2
    text = _text(reader)
    assert all(text.count(f"Line {n}.\n") == 1 for n in range(60))
    assert text.count("2 × 1.00") == 60


async def test_many_lines_take_many_sheets(shop: Shop) -> None:
    """None is lost between two of them, and each sheet has the titles of its columns."""
    order = await shop.sell(*(fee(1, name=f"Line {n}.") for n in range(120)))
    reader = _read((await _file(shop, order)).body)
    assert len(reader.pages) > 3
    text = _text(reader)
    assert all(text.count(f"Line {n}.") == 1 for n in range(120))
    assert text.count("Amount, ") == sum("Line" in p.extract_text() for p in reader.pages)


async def test_a_file_is_made_once(shop: Shop) -> None:
    """However many ask for it at the same time, they get the same bytes."""
    path = path_of(await receipt_url(shop, await shop.sell())).replace("?", ".pdf?")
    asked = [shop.business.anybody.get(path, status=200) for _ in range(10)]
    assert len({(await one).body for one in asyncio.as_completed(asked)}) == 1


async def test_more_than_may_wait_are_told_to_come_back(shop: Shop) -> None:
    """A page says so, with a time; nothing fails."""
    # The printer runs already, so that nobody waits for its start.
    first = path_of(await receipt_url(shop, await shop.sell(fee()))).replace("?", ".pdf?")
    await shop.business.anybody.get(first, status=200)
    # A long one: it isn't printed before the last of them has asked for it.
    order = await shop.sell(*(fee(1, name=f"Line {n}") for n in range(150)))
    path = path_of(await receipt_url(shop, order)).replace("?", ".pdf?")
    asked = [shop.business.anybody.get(path) for _ in range(60)]
    answers = await asyncio.gather(*asked)
    assert {answer.status for answer in answers} == {200, 429}
    assert {a.headers["retry-after"] for a in answers if a.status == 429} == {"1"}


@pytest.mark.parametrize("paper", ["a4", "80mm"])
def test_letters_that_the_font_lacks_are_seen_to_lack(paper: Paper) -> None:
    """Each has a sign in its place, and a line says why; those it has are there."""
    names = ["宫保鸡丁 Kung Pao", "Ελληνικά Кириллица", "नमस्ते", "\U0001f355 pizza"]
    text = _text(_printed(paper, lines=[_line(name) for name in names]))
    assert f"{LACKING * 4} Kung Pao" in text
    assert "Ελληνικά Кириллица" in text
    assert "stands for letters" in text
    assert "stands for letters" not in _text(_printed(paper, lines=[_line("Rice")]))


@pytest.mark.parametrize("paper", ["a4", "80mm"])
def test_arabic_is_joined(paper: Paper) -> None:
    """Letters take the forms of their place in the word, which are glyphs of their own."""
    joined = _printed(paper, lines=[_line("بببب")])
    alone = _printed(paper, lines=[_line("ب ب ب ب")])
    assert _glyphs(joined) > _glyphs(alone)


def _glyphs(reader: PdfReader) -> int:
    fonts = reader.pages[0]["/Resources"]["/Font"]  # pyright: ignore[reportIndexIssue]
    maps = [fonts[name]["/ToUnicode"].get_data() for name in fonts]
    return sum(one.count(b"<0628>") for one in maps)


@pytest.mark.parametrize("paper", ["a4", "80mm"])
def test_what_is_too_wide_is_written_smaller(paper: Paper) -> None:
    """The largest amounts there are stay within the paper, whole."""
    most = "999,999,999,999,999.999"
    line = SheetLine(quantity="999999999.999", name="W" * 200, details=["M" * 900],
                     unit_price=most, amount=most)  # fmt: skip
    reader = _printed(paper, lines=[line], sums=[Sum("Total", f"KWD {most}", True)])
    assert _text(reader).count(most) >= 3


@pytest.mark.proof
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.text(max_size=60), detail=st.text(max_size=60), paper=st.sampled_from(["a4", "80mm"])
)
def test_no_name_breaks_a_file(name: str, detail: str, paper: Paper) -> None:
    """The file opens with names of any script."""
    reader = _printed(
        paper,
        business=name,
        place=[detail],
        facts=[("Customer", name)],
        lines=[_line(name, detail)],
        footer=name,
    )
    assert len(reader.pages) == 1


@pytest.mark.parametrize(
    "name",
    ["{nb}", "**bold**", "\\n (x) \\", "\u202eevil", "a\u00adb", "\u0301" * 40, "\u200d" * 40,
     "🇳🇬👩‍👩‍👧", "שלום (abc) 12", "\ue000\uf8ff", "ﷺ" * 20, "", " ", "\t\n"],
)  # fmt: skip
def test_odd_names_are_names(name: str) -> None:
    """Nothing in a name is a command to the printer."""
    for paper in ("a4", "80mm"):
        text = _text(_printed(paper, lines=[_line(name)]))
        if name.isascii() and name.strip():
            assert name in text


def test_the_fonts_are_those_that_were_looked_at() -> None:
    """Byte by byte what their README says."""
    readme = (files("tillhouse.orders.receipts") / "fonts/README.md").read_text("utf-8")
    with unpacked_fonts() as folder:
        for font in folder.iterdir():
            assert hashlib.sha256(font.read_bytes()).hexdigest() in readme
