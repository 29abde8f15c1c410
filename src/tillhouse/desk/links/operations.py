"""The operations that pages of payment links call."""

from tillhouse.checkout.room import ROOM as CHECKOUT
from tillhouse.desk.operations import Operation

LINK = Operation(CHECKOUT, "GET", "/v1/payment-links/{link_id}")
MAKE = Operation(CHECKOUT, "POST", "/v1/payment-links")
MAKE_FOR_WALLET = Operation(CHECKOUT, "POST", "/v1/payment-links/wallet/dynamic")
CANCEL = Operation(CHECKOUT, "DELETE", "/v1/payment-links/{link_id}")
