"""A receipt as a PDF: on A4, or on a roll of 80 mm that is as long as its content."""

import gzip
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from fpdf import FPDF
from fpdf.fonts import TTFFont

from tillhouse.orders.receipts.page import Paper
from tillhouse.orders.receipts.rules import Sheet, Sum, Table, is_shaped

FONTS = {"": "DejaVuSansCondensed.ttf", "B": "DejaVuSansCondensed-Bold.ttf"}
LACKING = "\N{REPLACEMENT CHARACTER}"

_INK = (22, 33, 28)
_SOFT = (86, 98, 92)
_RULE = (216, 222, 219)
_DEEP = (11, 93, 59)
_RED, _BROWN = (161, 22, 31), (138, 75, 0)
_STAMPS = {"Cancelled": _RED, "Refunded": _RED, "Pro forma": _BROWN, "Test": _BROWN}
_MM_PER_POINT = 25.4 / 72
_SIZE_MIN = 4.0
# The longest page that a PDF can have is 5080 mm.
_ROLL_LONGEST_MM = 5000.0
# Signs that turn the direction of the text after them, such as amounts beside a name.
_TURNING = dict.fromkeys([0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])

Color = tuple[int, int, int]
Align = Literal["L", "C", "R"]


class Look(TypedDict, total=False):
    """How words are written, where that isn't as usual."""

    size: float
    bold: bool
    color: Color
    align: Align


@contextmanager
def unpacked_fonts() -> Iterator[Path]:
    """The fonts as the files that the library wants, as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-fonts-") as folder:
        for name in FONTS.values():
            packed = files("tillhouse.orders.receipts") / "fonts" / f"{name}.gz"
            (Path(folder) / name).write_bytes(gzip.decompress(packed.read_bytes()))
        yield Path(folder)


def print_sheet(sheet: Sheet, paper: Paper, made_at: datetime, fonts: Path) -> bytes:
    """The bytes of the file."""
    sheets = {"a4": _A4, "80mm": _Roll}
    return sheets[paper](sheet, made_at, fonts).finish()


class _Paper:
    """The common part of both papers: writing words at a position."""

    width: float
    height: float
    margin: float
    size: float

    def __init__(self, sheet: Sheet, made_at: datetime, fonts: Path) -> None:
        self.sheet = sheet
        pdf = FPDF(unit="mm", format=(self.width, self.height))
        for style, name in FONTS.items():
            pdf.add_font("receipt", style, fonts / name)
        fonts_read = [one for one in pdf.fonts.values() if isinstance(one, TTFFont)]
        self._letters = [one.cmap for one in fonts_read]
        self.lacks_letters = False
        # A product may be called {nb}, which would become the number of pages.
        pdf.str_alias_nb_pages = ""
        pdf.c_margin = 0
        pdf.set_margin(self.margin)
        pdf.set_auto_page_break(auto=True, margin=self.margin)
        pdf.set_title(self.clean(f"{sheet.title} {sheet.code}, {sheet.business}"))
        pdf.set_lang("en")
        pdf.set_creator("Tillhouse")
        pdf.set_creation_date(made_at)
        pdf.add_page()
        self.pdf = pdf

    @property
    def inner(self) -> float:
        """How wide a line may be."""
        return self.width - 2 * self.margin

    def line_height(self, size: float) -> float:
        """How far it is from one line to the next."""
        return size * _MM_PER_POINT * 1.35

    def clean(self, text: str) -> str:
        """The text as far as the font goes: a missing sign is seen to be missing."""
        plain = " ".join(text.translate(_TURNING).split())
        kept = [
            one if all(ord(one) in cmap for cmap in self._letters) else LACKING for one in plain
        ]
        self.lacks_letters = self.lacks_letters or LACKING in kept
        return "".join(kept)

    def write(
        self,
        text: str,
        *,
        x: float | None = None,
        width: float | None = None,
        **look: Unpack[Look],
    ) -> None:
        """Write a paragraph at this height; the next begins below it."""
        pdf, words = self.pdf, self.clean(text)
        size = look.get("size", self.size)
        pdf.set_font("receipt", "B" if look.get("bold") else "", size)
        pdf.set_text_color(*look.get("color", _INK))
        pdf.set_text_shaping(is_shaped(words))
        pdf.set_x(self.margin if x is None else x)
        pdf.multi_cell(
            width or self.inner,
            self.line_height(size),
            words,
            align=look.get("align", "L"),
            new_x="LMARGIN",
            new_y="NEXT",
        )

    def beside(self, text: str, *, x: float, width: float, **look: Unpack[Look]) -> None:
        """Write one line, small enough to fit; it ends at x + width, and the height stays."""
        pdf, top, size = self.pdf, self.pdf.y, look.get("size", self.size)
        pdf.set_font("receipt", "B" if look.get("bold") else "", size)
        wanted = pdf.get_string_width(text)
        fitting = size if wanted <= width else max(_SIZE_MIN, size * width / wanted * 0.98)
        # On one line with larger text.
        pdf.y = top + (size - fitting) * _MM_PER_POINT
        look["size"], look["align"] = fitting, look.get("align", "R")
        self.write(text, x=x, width=width, **look)
        pdf.y = top

    def room(self, needed: float) -> bool:
        """Go on to the next page where this much doesn't fit any more; whether that was so."""
        if self.pdf.y + needed <= self.height - self.margin:
            return False
        self.pdf.add_page()
        return True

    def rule(self, color: Color, *, x: float | None = None) -> None:
        """A line from x to the right margin."""
        self.pdf.set_draw_color(*color)
        self.pdf.set_line_width(0.2)
        start = self.margin if x is None else x
        self.pdf.line(start, self.pdf.y, self.width - self.margin, self.pdf.y)

    def stamp(self, mark: str, x: float, y: float) -> float:
        """A mark in a frame; how wide it came out."""
        pdf, color, text = self.pdf, _STAMPS.get(mark, _SOFT), mark.upper()
        pdf.set_font("receipt", "B", 9)
        width = pdf.get_string_width(text) + 6
        pdf.set_draw_color(*color)
        pdf.set_line_width(0.5)
        pdf.rect(x, y, width, 6)
        pdf.y = y + 0.9
        self.write(text, x=x, width=width, size=9, bold=True, color=color, align="C")
        return width

    def sums(self, x: float) -> None:
        """The rows below the lines."""
        for row in self.sheet.sums:
            self._sum(row, x)

    def _sum(self, row: Sum, x: float) -> None:
        strong = row.is_strong
        self.room(10)
        self.pdf.y += 1.2 if strong else 0.4
        if strong:
            self.rule(_INK, x=x)
            self.pdf.y += 1
        size = self.size + (2 if strong else 0)
        width = self.width - self.margin - x
        color = _INK if strong else _SOFT
        top = self.pdf.y
        self.write(row.label, x=x, width=width * 0.34, size=size, bold=strong, color=color)
        bottom, self.pdf.y = self.pdf.y, top
        self.beside(row.amount, x=x + width * 0.34, width=width * 0.66, size=size, bold=strong)
        self.pdf.y = bottom

    def end(self, align: Align) -> None:
        """The words at the foot."""
        self.pdf.y += 5
        for line in self.sheet.closing:
            self.write(line, align=align)
        self.pdf.y += 1.5 if self.sheet.closing else 0
        self.write(self.sheet.footer, size=self.size - 2, color=_SOFT, align=align)
        if self.lacks_letters:
            note = (
                f"{LACKING} stands for letters that this file has no font for; the page has them."
            )
            self.write(note, size=self.size - 2, color=_SOFT, align=align)


class _A4(_Paper):
    """A sheet with columns."""

    width, height, margin, size = 210.0, 297.0, 18.0, 10.0
    columns = (84.0, 22.0, 34.0, 34.0)

    def finish(self) -> bytes:
        """The bytes of the file."""
        self._head()
        self._facts()
        if self.sheet.lines:
            self._lines()
        for table in self.sheet.tables:
            self._table(table)
        self.pdf.y += 3
        self.room(9.0 * len(self.sheet.sums))
        self.sums(self.width - self.margin - 84)
        self.end("L")
        return bytes(self.pdf.output())

    def _head(self) -> None:
        pdf = self.pdf
        pdf.set_fill_color(*_DEEP)
        pdf.rect(0, 0, self.width, 3, style="F")
        self.write(self.sheet.business, size=20, bold=True, width=self.inner - 56)
        for line in self.sheet.place:
            self.write(line, color=_SOFT, width=self.inner - 56)
        bottom, y = pdf.y, self.margin + 1.5
        for mark in self.sheet.marks:
            pdf.set_font("receipt", "B", 9)
            width = pdf.get_string_width(mark.upper()) + 6
            self.stamp(mark, self.width - self.margin - width, y)
            y += 8
        pdf.y = max(bottom, y) + 7

    def _facts(self) -> None:
        pdf, column = self.pdf, self.inner / 3
        self.write(self.sheet.title.upper(), size=9, bold=True, color=_DEEP)
        pdf.y += 2
        for start in range(0, len(self.sheet.facts), 3):
            top = bottom = pdf.y
            for place, (label, value) in enumerate(self.sheet.facts[start : start + 3]):
                pdf.y, x = top, self.margin + place * column
                self.write(label, x=x, width=column - 4, size=8, color=_SOFT)
                self.write(value, x=x, width=column - 4)
                bottom = max(bottom, pdf.y)
            pdf.y = bottom + 2.5
        pdf.y += 4

    def _titles(self, *titles: str) -> None:
        pdf = self.pdf
        self.rule(_INK)
        pdf.y += 1.2
        last = f"Amount, {self.sheet.currency}"
        self._row(*titles, last, size=8, color=_SOFT)
        pdf.y += 1.2
        self.rule(_INK)
        pdf.y += 1.8

    def _row(self, *texts: str, **look: Unpack[Look]) -> None:
        """The first column may take several lines, the others have one."""
        top, x = self.pdf.y, self.margin + self.columns[0]
        self.write(texts[0], width=self.columns[0], **look)
        bottom, self.pdf.y = self.pdf.y, top
        for text, width in zip(texts[1:], self.columns[1:], strict=True):
            if text:
                self.beside(text, x=x + 3, width=width - 3, **look)
            x += width
        self.pdf.y = bottom

    def _lines(self) -> None:
        titles = "Item", "Quantity", "Price"
        self._titles(*titles)
        for line in self.sheet.lines:
            row = line.name, line.quantity, line.unit_price, line.amount
            self._entry(row, line.details, titles)

    def _table(self, table: Table) -> None:
        self.pdf.y += 3
        # Its titles stand above a row, not alone at the foot of a page.
        self.room(30)
        titles = table.title, "", "Date"
        self._titles(*titles)
        for one in table.entries:
            self._entry((one.name, "", one.date, one.amount), one.details, titles)

    def _entry(self, row: Sequence[str], details: list[str], titles: Sequence[str]) -> None:
        # A name has up to 200 letters, at least 25 to a line: it stays on one page.
        if self.room(14 + len(row[0]) / 25 * 5):
            self._titles(*titles)
        self._row(*row)
        if details:
            said = " · ".join(details)
            self.write(said, width=self.columns[0], size=8.5, color=_SOFT)
        self.pdf.y += 1.6
        self.rule(_RULE)
        self.pdf.y += 1.8


class _Roll(_Paper):
    """A strip, cut off below the last line."""

    width, height, margin, size = 80.0, _ROLL_LONGEST_MM, 5.0, 9.0

    def finish(self) -> bytes:
        """The bytes of the file."""
        self._head()
        self._facts()
        if self.sheet.lines:
            self._lines()
        for table in self.sheet.tables:
            self._table(table)
        self.sums(self.margin)
        self.end("C")
        last = self.pdf.pages[self.pdf.page]
        per_mm = 72 / 25.4
        bottom = (self.height - self.pdf.y - self.margin) * per_mm
        last.media_box = f"[0 {bottom:.2f} {self.width * per_mm:.2f} {self.height * per_mm:.2f}]"
        return bytes(self.pdf.output())

    def _head(self) -> None:
        pdf = self.pdf
        self.write(self.sheet.business, size=14, bold=True, align="C")
        for line in self.sheet.place:
            self.write(line, align="C")
        if self.sheet.marks:
            pdf.y += 2
            pdf.set_font("receipt", "B", 9)
            widths = [pdf.get_string_width(mark.upper()) + 6 for mark in self.sheet.marks]
            x, y = (self.width - sum(widths) - 2 * (len(widths) - 1)) / 2, pdf.y
            for mark in self.sheet.marks:
                x += self.stamp(mark, x, y) + 2
            pdf.y = y + 6
        pdf.y += 3

    def _facts(self) -> None:
        for label, value in self.sheet.facts:
            top = self.pdf.y
            self.write(label, width=22, color=_SOFT)
            self.pdf.y = top
            x = self.margin + 22
            self.write(value, x=x, width=self.inner - 22, align="R")
        self.pdf.y += 2
        self.rule(_INK)
        self.pdf.y += 1.5

    def _lines(self) -> None:
        for line in self.sheet.lines:
            count = f"{line.quantity} × {line.unit_price}"
            self._entry(line.name, line.details, count, line.amount)
        self._line_below()

    def _table(self, table: Table) -> None:
        self.write(table.title, size=8, color=_SOFT)
        for one in table.entries:
            self._entry(one.name, one.details, one.date, one.amount)
        self._line_below()

    def _entry(self, name: str, details: list[str], count: str, amount: str) -> None:
        self.write(name, bold=True)
        if details:
            self.write(" · ".join(details), size=8, color=_SOFT)
        # The end of a page must not separate words that stand side by side.
        self.room(self.line_height(self.size))
        half = self.inner / 2
        self.beside(count, x=self.margin, width=half, color=_SOFT, align="L")
        self.beside(amount, x=self.margin + half, width=half)
        self.pdf.y += self.line_height(self.size) + 1.2

    def _line_below(self) -> None:
        self.pdf.y += 0.5
        self.rule(_INK)
        self.pdf.y += 1
