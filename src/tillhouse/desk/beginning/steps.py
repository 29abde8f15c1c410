"""The first steps of each kind of business, each ticked by what is really there."""

from collections.abc import Mapping, Sequence

import msgspec

from tillhouse.desk.frame.places import LIST_LINKS, LIST_ORDERS, LIST_PRODUCTS, LIST_PROVIDERS
from tillhouse.desk.frame.places import RECORD as SELL
from tillhouse.desk.links.operations import MAKE as MAKE_LINK
from tillhouse.desk.operations import Operation, OperationAnswer, Query
from tillhouse.desk.products.operations import COUNT, MOVES
from tillhouse.desk.products.operations import MAKE as MAKE_PRODUCT
from tillhouse.desk.selling.options import ROOMS, TERMS
from tillhouse.hotel.room import ROOM as HOTEL
from tillhouse.kitchen.room import ROOM as KITCHEN
from tillhouse.labels.room import ROOM as LABELS
from tillhouse.payins.room import ROOM as PAYINS

_NO_QUERY: Query = {}


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """Something to do first."""

    # Its sentences in the catalogue.
    name: str
    # The list that has something in it once the step is done.
    found_by: Operation
    query: Query = _NO_QUERY
    # The operation that the step needs: a role that may not is shown no such step.
    does: Operation
    # The page where it is done; None where there is no page yet, and the command is shown.
    address: str | None = None
    body: str = ""

    @property
    def command(self) -> str:
        """The call that does it, for a shell."""
        return (
            f'curl -sS "$BASE{self.does.route.path}" -H "Authorization: Bearer $KEY"'
            f" -H 'Content-Type: application/json' -d '{self.body}'"
        )

    @property
    def is_live(self) -> bool:
        """Whether it is about the live book alone: the test book has its sandbox."""
        return self.found_by is LIST_PROVIDERS

    def is_done(self, found: OperationAnswer) -> bool:
        """Whether the list has what the step is about."""
        if self.is_live:
            return any(provider["status"] == "connected" for provider in found.data)
        return bool(found.data)


_GOODS = Step(name="goods", found_by=LIST_PRODUCTS, does=MAKE_PRODUCT, address="/desk/products/new")
_MENU = msgspec.structs.replace(_GOODS, name="menu")
_SERVICES = msgspec.structs.replace(_GOODS, name="services")
_FEES = msgspec.structs.replace(_GOODS, name="fees")
_STOCK = Step(name="stock", found_by=MOVES, does=COUNT, address="/desk/products/stock")
_SALE = Step(name="sale", found_by=LIST_ORDERS, does=SELL, address="/desk/sell")
_KITCHEN = Step(
    name="kitchen", found_by=Operation(KITCHEN, "GET", "/v1/kitchen/tickets"),
    query={"all": "true"}, does=SELL, address="/desk/sell?service_mode=dine_in",
)  # fmt: skip
_TERM = Step(
    name="term", found_by=TERMS, does=Operation(LABELS, "POST", "/v1/academic-terms"),
    address="/desk/settings/terms/new",
)  # fmt: skip
_ROOM_TYPE = Step(
    name="room_type", found_by=Operation(HOTEL, "GET", "/v1/hotel/room-types"),
    does=Operation(HOTEL, "POST", "/v1/hotel/room-types"),
    body='{"name": "Standard", "capacity": 2, "rate": 45000}',
)  # fmt: skip
_ROOM = Step(
    name="room", found_by=ROOMS, does=Operation(HOTEL, "POST", "/v1/hotel/rooms"),
    body='{"room_type_id": "…", "number": "101"}',
)  # fmt: skip
_STAY = Step(
    name="stay", found_by=Operation(HOTEL, "GET", "/v1/hotel/reservations"),
    does=Operation(HOTEL, "POST", "/v1/hotel/reservations"),
    body='{"room_type_id": "…", "guest_id": "…", "check_in_date": "2027-01-11", '
    '"check_out_date": "2027-01-13"}',
)  # fmt: skip
_LINK = Step(
    name="link", found_by=LIST_LINKS, query={"status": "PAID"}, does=MAKE_LINK,
    address="/desk/links/new",
)  # fmt: skip
_PROVIDER = Step(
    name="provider", found_by=LIST_PROVIDERS,
    does=Operation(PAYINS, "PUT", "/v1/payment-providers"), address="/desk/connections",
)  # fmt: skip

STEPS: Mapping[str, Sequence[Step]] = {
    "retail": (_GOODS, _STOCK, _SALE, _LINK, _PROVIDER),
    "services": (_SERVICES, _SALE, _LINK, _PROVIDER),
    "restaurant": (_MENU, _KITCHEN, _LINK, _PROVIDER),
    "school": (_FEES, _TERM, _SALE, _LINK, _PROVIDER),
    "hotel": (_ROOM_TYPE, _ROOM, _STAY, _LINK, _PROVIDER),
}
