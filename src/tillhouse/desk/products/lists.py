"""Parts of several pages of goods: their views, and lists that a form chooses from."""

from typing import Any

from tillhouse.desk.frame.places import LIST_PRODUCTS, Frame
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import PageRequest
from tillhouse.desk.products import operations as ops

LIST = "/desk/products"
STOCK = f"{LIST}/stock"
MOVES = f"{STOCK}/moves"
CATEGORIES = f"{LIST}/categories"
CHOICES = f"{LIST}/choices"
PROMOTIONS = f"{LIST}/promotions"
_VIEWS = (
    ("on_sale", LIST, LIST_PRODUCTS),
    ("off_sale", f"{LIST}?is_active=false", LIST_PRODUCTS),
    ("out", f"{LIST}?out_of_stock=true", LIST_PRODUCTS),
    ("stock", STOCK, ops.LEVELS),
    ("low", f"{STOCK}?low=true", ops.LEVELS),
    ("moves", MOVES, ops.MOVES),
    ("categories", CATEGORIES, ops.CATEGORIES),
    ("choices", CHOICES, ops.GROUPS),
    ("promotions", PROMOTIONS, ops.PROMOTIONS),
)
_PER_PAGE, _PAGES_MAX = 100, 5
# The frame knows so many stores; where there are more, no form may replace all prices.
_STORES_MAX = 99


def views(page: PageRequest, here: str) -> list[tuple[str, str, bool]]:
    """The views that the role opens: name, address, and whether this is the page."""
    return [(name, address, name == here) for name, address, one in _VIEWS if page.may(one)]


async def every(page: PageRequest, operation: Operation) -> list[dict[str, Any]]:
    """All that a form chooses from, up to five hundred."""
    found: list[dict[str, Any]] = []
    for number in range(1, _PAGES_MAX + 1):
        answer = await page.read(operation, limit=_PER_PAGE, page=number)
        if answer is None:
            break
        found += answer.data
        if not answer.extra["meta"]["hasMore"]:
            break
    return found


def stores_of(frame: Frame) -> list[tuple[str, str]]:
    """The stores that a form chooses from; the last is the business as a whole."""
    stores = [(one["id"], one["name"]) for one in frame.stores]
    return [*stores, ("", sentence("stock.no_store"))]


def priced_stores(frame: Frame) -> list[dict[str, Any]]:
    """The stores that may have prices of their own."""
    return frame.stores if len(frame.stores) <= _STORES_MAX else []
