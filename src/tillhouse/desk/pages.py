"""All pages of the desk, the door at the bare address, and the way back from where no page is."""

from collections.abc import Iterable
from urllib.parse import quote

from tillhouse.desk import assets
from tillhouse.desk.account.pages import ROUTES as ACCOUNT
from tillhouse.desk.answering import Desk
from tillhouse.desk.beginning.pages import ROUTES as BEGINNING
from tillhouse.desk.commands.pages import ROUTES as COMMANDS
from tillhouse.desk.connections.pages import ROUTES as CONNECTIONS
from tillhouse.desk.customers.pages import ROUTES as CUSTOMERS
from tillhouse.desk.developers.begin.pages import ROUTES as FIRST_CALL
from tillhouse.desk.developers.keys.apps import ROUTES as APPS
from tillhouse.desk.developers.keys.pages import ROUTES as KEYS
from tillhouse.desk.developers.logs.pages import ROUTES as LOGS
from tillhouse.desk.developers.webhooks.deliveries import ROUTES as DELIVERIES
from tillhouse.desk.developers.webhooks.endpoints import ROUTES as ENDPOINTS
from tillhouse.desk.developers.webhooks.secret import ROUTES as SIGNING
from tillhouse.desk.finance.routes import ROUTES as FINANCE
from tillhouse.desk.frame.places import first_page
from tillhouse.desk.links.pages import ROUTES as LINKS
from tillhouse.desk.live import ASKED_AGAIN_S, LivePages
from tillhouse.desk.orders.pages import ROUTES as ORDERS
from tillhouse.desk.overview.pages import ROUTES as OVERVIEW
from tillhouse.desk.page import Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.people.pages import ROUTES as PEOPLE
from tillhouse.desk.products.categories import ROUTES as CATEGORIES
from tillhouse.desk.products.choices import ROUTES as CHOICES
from tillhouse.desk.products.pages import ROUTES as PRODUCTS
from tillhouse.desk.products.promotions import ROUTES as PROMOTIONS
from tillhouse.desk.products.stock import ROUTES as STOCK
from tillhouse.desk.products.variants import ROUTES as VARIANTS
from tillhouse.desk.search.pages import routes_over
from tillhouse.desk.selling.pages import ROUTES as SELLING
from tillhouse.desk.session.forgotten import ROUTES as FORGOTTEN
from tillhouse.desk.session.pages import ROUTES as SESSION
from tillhouse.desk.settings.routes import ROUTES as SETTINGS
from tillhouse.desk.wallet.routes import ROUTES as WALLET
from tillhouse.http.raw import RawRoute
from tillhouse.kit.errors import Missing

# Addresses below /desk are no deeper.
_DEPTH = 6


async def door(page: PageRequest) -> Shown | Onward:
    """The bare address: the desk for a person who is signed in, else what this is."""
    return Onward(first_page(page)) if page.person else Shown("session/door.html", has_frame=False)


async def nothing(_page: PageRequest) -> Shown:
    """An address that leads nowhere."""
    raise Missing("There is no page at this address.")


_AREAS = (
    PageRoute("GET", "/", door, is_open=True),
    *OVERVIEW,
    *BEGINNING,
    *SELLING,
    *ORDERS,
    *CUSTOMERS,
    *LINKS,
    *FINANCE,
    *WALLET,
    *CONNECTIONS,
    *PRODUCTS,
    *VARIANTS,
    *CATEGORIES,
    *CHOICES,
    *STOCK,
    *PROMOTIONS,
    *KEYS,
    *APPS,
    *ENDPOINTS,
    *DELIVERIES,
    *SIGNING,
    *LOGS,
    *FIRST_CALL,
    *PEOPLE,
    *SETTINGS,
    *COMMANDS,
    *ACCOUNT,
    *SESSION,
    *FORGOTTEN,
)
PAGES = (*_AREAS, *routes_over(_AREAS))


def pages(asked_again_s: float = ASKED_AGAIN_S) -> tuple[RawRoute, ...]:
    """Every route of the desk; sessions behind open pages are asked for again so often."""
    desk, live = Desk(), LivePages(asked_again_s)
    streams = [live.stream_of(page) for page in PAGES if page.live]
    return (*map(desk.route, (*PAGES, *streams, *_ways_back(PAGES), *_nowhere())), assets.ROUTE)


def _ways_back(routes: Iterable[PageRoute]) -> list[PageRoute]:
    """The address of a form, opened without one, leads to the page that it stands on."""
    gets = {route.path for route in routes if route.method == "GET"}
    posts = {route.path for route in routes if route.method == "POST"}
    return [_way_back(path, gets) for path in sorted(posts - gets)]


def _way_back(path: str, gets: set[str]) -> PageRoute:
    back = path
    while back not in gets:
        back = back.rpartition("/")[0]

    async def go_back(page: PageRequest) -> Onward:
        address = back
        for name, value in page.path.items():
            address = address.replace(f"{{{name}}}", quote(value, safe=""))
        return Onward(address)

    return PageRoute("GET", path, go_back, is_open=True)


def _nowhere() -> list[PageRoute]:
    """Every other address below /desk: refused as a page, and not as the API would."""
    paths = ["/desk" + "".join(f"/{{part{number}}}" for number in range(depth))
             for depth in range(1, _DEPTH)]  # fmt: skip
    return [PageRoute("GET", path, nothing, is_open=True) for path in paths]
