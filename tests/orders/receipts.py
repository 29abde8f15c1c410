"""Receipts as tests ask for them: made through the API, opened by their address."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID

from tests.api import Response
from tests.orders.shop import ORDERS, Body, Shop
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.kit.secrets import sign
from tillhouse.orders.receipts.addresses import RECEIPTS


async def receipt_url(shop: Shop, order: Body, status: int = 200) -> str:
    """The address of an order's receipt."""
    answer = await shop.api.post(f"{ORDERS}/{order['id']}/receipt", status=status)
    return answer.data["url"]


def path_of(url: str) -> str:
    """The address without the server."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def id_of(url: str) -> UUID:
    """Which receipt it is."""
    return UUID(urlsplit(url).path.rsplit("/", 1)[1])


def given(url: str) -> dict[str, str]:
    """The parts of the address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


async def open_page(shop: Shop, url: str, **options: Any) -> Response:
    """The page behind the address; without any credential."""
    return await shop.business.anybody.get(path_of(url), **options)


async def page_text(shop: Shop, order: Body) -> str:
    """The page of an order's receipt as it stands now."""
    page = await open_page(shop, await receipt_url(shop, order), status=200)
    return page.body.decode()


def marked(services: Services, receipt_id: UUID, until: str) -> str:
    """An address with a true signature for any time."""
    key = services.vault.derive(RECEIPTS.purpose)
    given = {"until": until, "mark": sign(key, str(receipt_id), until)}
    return f"/receipts/{receipt_id}?{urlencode(given)}"


def in_seconds(seconds: float) -> str:
    """A time from now, as an address writes it."""
    return str(int((now() + timedelta(seconds=seconds)).timestamp()))
