"""Rules of new links: their faults and their words. Pure decisions."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import msgspec

from tillhouse.checkout.redirect_rules import redirect_fault
from tillhouse.checkout.types import LinkCustomer, NewLink, NewWalletLink, OwedType
from tillhouse.customers.types import WantedCustomer
from tillhouse.kit.errors import Conflict, FieldError, Refused
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import faults
from tillhouse.kit.secrets import Environment

WALLET_LASTS = timedelta(hours=24)
CUSTOMER_AT = "customer."
_OWING: dict[OwedType, str] = {
    "sale": "order", "debt": "debt of order", "reservation": "reservation",
}  # fmt: skip
_DESCRIBED: dict[OwedType, str] = {
    "sale": "Order", "debt": "Rest of order", "reservation": "Stay",
}  # fmt: skip


class NothingOwed(Refused, message="Nothing is owed there any more: a link would ask for nothing."):
    """The target is paid, cancelled or settled otherwise."""


class AlreadyPaid(Conflict, message="The link is paid: what was paid can be refunded instead."):
    """A link that has done its work isn't cancelled."""


class LinkTarget(msgspec.Struct, frozen=True, kw_only=True):
    """The order, debt or stay of a link, and how much it owes."""

    outstanding: Decimal
    short_code: str
    status: str


def link_faults(
    new: NewLink, environment: Environment, target: LinkTarget | None
) -> list[FieldError]:
    """Everything that is wrong with a new link of a sale or a debt, beside its form."""
    return faults(
        lambda: _target_errors(new, target),
        lambda: _redirect_errors(new, environment),
        lambda: _customer_errors(new.customer),
    )


def wallet_faults(new: NewWalletLink, environment: Environment, currency: str) -> list[FieldError]:
    """Everything that is wrong with a new link of the wallet, beside its form."""
    return faults(
        lambda: _amount_errors(new, currency),
        lambda: _redirect_errors(new, environment),
        lambda: _customer_errors(new.customer),
    )


def _target_errors(new: NewLink, target: LinkTarget | None) -> Iterator[FieldError]:
    if new.target_id and target is None:
        told = {
            "sale": "is no order of this business and environment: see GET /v1/orders",
            "debt": "is no debt of this business and environment: see GET /v1/debts",
            "reservation": "is no reservation of this business and environment: see "
            "GET /v1/hotel/reservations",
        }
        yield FieldError("target_id", told[new.target_type])


def _amount_errors(new: NewWalletLink, currency: str) -> Iterator[FieldError]:
    if wrong := check_scale(new.amount, currency):
        yield FieldError("amount", wrong)


def _redirect_errors(
    new: NewLink | NewWalletLink, environment: Environment
) -> Iterator[FieldError]:
    if new.redirect_url and (wrong := redirect_fault(new.redirect_url, environment)):
        yield FieldError("redirect_url", wrong)


def _customer_errors(customer: LinkCustomer | None) -> Iterator[FieldError]:
    if customer is not None and not customer.email and not customer.phone_number:
        yield FieldError("customer", "needs an email or a phone_number, by which they are found")


def check_owed(target: LinkTarget, target_type: OwedType) -> None:
    """Refuse a link that would ask for nothing."""
    if target.outstanding > 0:
        return
    what = f"{_OWING[target_type]} {target.short_code}"
    raise NothingOwed(
        f"The {what} has nothing outstanding (it is {target.status}): a link would ask for nothing."
    )


def wanted_customer(customer: LinkCustomer) -> WantedCustomer:
    """The customer to be found or made."""
    return WantedCustomer(
        name=customer.name, email=customer.email, phone_number=customer.phone_number,
        at=CUSTOMER_AT,
    )  # fmt: skip


def described(target_type: OwedType, short_code: str) -> str:
    """The words that the payer reads beside the amount."""
    return f"{_DESCRIBED[target_type]} {short_code}"
