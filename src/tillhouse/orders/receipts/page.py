"""A receipt as a web page: complete without scripts, and fit to be printed."""

from importlib.resources import files
from typing import Literal
from urllib.parse import urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tillhouse.http.raw import RawAnswer, html_page
from tillhouse.orders.receipts.addresses import Address
from tillhouse.orders.receipts.rules import Sheet

Paper = Literal["a4", "80mm"]
PAPERS: dict[str, Paper] = {"a4": "a4", "80mm": "80mm"}
NAMES: dict[Paper, str] = {"a4": "A4", "80mm": "80 mm"}

_FOLDER = files("tillhouse.orders.receipts")
_BASE = (_FOLDER / "receipt.css").read_text("utf-8")
# The text of a page's one <style>, whose hash is in the policy beside it.
_STYLES = {paper: _BASE + (_FOLDER / f"{paper}.css").read_text("utf-8") for paper in PAPERS}

_ENVIRONMENT = Environment(
    loader=PackageLoader("tillhouse.orders", "receipts"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)


class _Links(msgspec.Struct, frozen=True):
    pdf: str
    other_paper: str
    other_label: str


def receipt(sheet: Sheet, address: Address, paper: Paper) -> RawAnswer:
    """The page of a receipt."""
    style = _STYLES[paper]
    text = _ENVIRONMENT.get_template("receipt.html").render(
        # The stylesheet is ours, and quotes in it are quotes.
        sheet=sheet, links=_links(address, paper), style=Markup(style)  # noqa: S704
    )  # fmt: skip
    return html_page(text, style)


def refusal(message: str, request_id: str) -> RawAnswer:
    """The page of a refusal."""
    style = _STYLES["a4"]
    text = _ENVIRONMENT.get_template("refusal.html").render(
        message=message, request_id=request_id, style=Markup(style)  # noqa: S704
    )  # fmt: skip
    return html_page(text, style)


def _links(address: Address, paper: Paper) -> _Links:
    other: Paper = "80mm" if paper == "a4" else "a4"
    own = {"until": address.until, "mark": address.mark}
    # Relative to the page's own address, wherever it is published.
    page = str(address.receipt_id)
    return _Links(
        pdf=f"{page}.pdf?{urlencode(own | {'paper': paper})}",
        other_paper=f"{page}?{urlencode(own | {'paper': other})}",
        other_label=f"Show for {NAMES[other]} paper",
    )
