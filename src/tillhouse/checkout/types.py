"""Requests and answers of the routes of payment links."""

from decimal import Decimal
from typing import Annotated, ClassVar, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.checkout.redirect_rules import clean_redirect
from tillhouse.customers.types import Filter, PersonName
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import CustomerId
from tillhouse.kit.money import AMOUNT_LIMIT, Bounded
from tillhouse.kit.page import Paged
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.text import OneLine, Schema, Value
from tillhouse.kit.values import DateOrTimestamp, Email, Search
from tillhouse.outgoing.rules import URL_LENGTH_MAX

LinkStatus = Literal["active", "PAID", "EXPIRED", "CANCELLED"]
TargetType = Literal["sale", "debt", "wallet", "reservation"]
OwedType = Literal["sale", "debt", "reservation"]
LinkCondition = Literal["partial", "over", "late", "reversed"]


class RedirectUrl(Value):
    """The address to which checkout sends the payer back."""

    SCHEMA: ClassVar[Schema] = {
        "format": "uri",
        "pattern": r"^[Hh][Tt][Tt][Pp][Ss]?://[!#$%&'()*+,\-./0-9:;=?A-Z\[\]_a-z~@]+$",
        "maxLength": URL_LENGTH_MAX,
        "examples": ["https://shop.example.com/thanks?cart=7"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Of the right form; whether it may be http is judged with the environment."""
        return clean_redirect(value)


class LinkTitle(OneLine, longest=120, example="Deposit for the hall"):
    """The purpose of the payment, as the payer reads it."""


class ToPay(
    Bounded,
    exclusiveMinimum=0,
    exclusiveMaximum=AMOUNT_LIMIT,
    wrong="must be more than 0",
    example=16460,
):
    """An amount above 0."""

    __slots__ = ()


class LinkCustomer(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The customer of a link: found by e-mail address or phone number, or made."""

    name: PersonName | None = None
    """The name of somebody new; a customer who is found keeps theirs."""
    email: Email | None = None
    """One of `email` and `phone_number` is needed; of two customers: the request is refused."""
    phone_number: PhoneText | None = None


class NewLink(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A link to be made for a sale, a debt or a stay; its amount is what that still owes."""

    target_type: OwedType
    """`sale`: an order; `debt`: a debt, as `GET /v1/debts` lists them; `reservation`: a stay at
    the hotel, with its deposit."""
    target_id: UUID
    """The id of the order, of the debt or of the reservation."""
    redirect_url: RedirectUrl | None = None
    """Where checkout sends the payer back; in live it begins with `https://`."""
    customer: LinkCustomer | None = None
    """The customer of the link; left out: the one of the target."""


class NewWalletLink(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A link to be made that pays into the wallet, once, within 24 hours."""

    title: LinkTitle
    """The purpose of the payment, as the payer reads it."""
    amount: ToPay
    """The amount, in the currency of the business."""
    redirect_url: RedirectUrl | None = None
    """Where checkout sends the payer back; in live it begins with `https://`."""
    customer: LinkCustomer | None = None
    """The customer of the link; left out: none."""


class LinkFilter(Paged, rename={"since": "from", "until": "to"}):
    """Which links, and which page of them."""

    status: Annotated[list[LinkStatus], Meta(min_length=1)] | None = None
    """Only links with one of these statuses, split by commas."""
    target_type: TargetType | None = None
    """Only links of this type."""
    target_id: UUID | None = None
    """Only links of this order, debt or reservation."""
    since: DateOrTimestamp | None = None
    """Made from this day or moment on; a day is the business's."""
    until: DateOrTimestamp | None = None
    """Made up to this day, all of it, or up to this moment."""
    search: Search | None = None
    """Only the link with this reference, or those of which a word begins so: of the title, the
    description (it names the order) or the customer's name."""
    customer_id: CustomerId | None = None
    """Only this customer's; not together with `customer_email` or `customer_phone`."""
    customer_email: Filter | None = None
    """Only those of the customer with this e-mail address; none if no customer has it."""
    customer_phone: Filter | None = None
    """Only those of the customer with this phone number; none if no customer has it."""


class PaymentLink(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An address at which somebody can pay."""

    id: UUID
    reference: Annotated[str, Meta(examples=["pl_3fQ8vZ1nXk7tLw2RbC5mYd"])]
    """The name of the link in its address; it can't be guessed."""
    url: Annotated[str, Meta(examples=["https://till.example.com/pay/pl_3fQ8vZ1nXk7tLw2RbC5mYd"])]
    """The page to pay on: send it to the payer."""
    qr: Annotated[
        str, Meta(examples=["https://till.example.com/pay/pl_3fQ8vZ1nXk7tLw2RbC5mYd/qr.svg"])
    ]
    """An image (SVG) that leads a camera to the page."""
    target_type: TargetType
    target_id: UUID | None
    """The order, the debt or the reservation; null for the wallet."""
    title: str | None
    """The purpose of the payment; null where the target says it."""
    description: Annotated[str, Meta(examples=["Order K7M2QX4D"])]
    """The words that the payer reads beside the amount."""
    amount: Decimal
    """The amount that its target owes now; once closed, the one that it asked for last."""
    currency: str
    status: LinkStatus
    customer_id: UUID | None
    customer_name: Annotated[str, Meta(examples=["Chidi Eze"])] | None
    """The customer's name when the link was made."""
    customer_email: str | None
    """The customer's e-mail address when the link was made."""
    customer_phone: str | None
    """The customer's phone number when the link was made."""
    redirect_url: str | None
    """Where checkout sends the payer back; null: it stays on its own page."""
    is_reusable: bool
    """Whether it takes payments again and again."""
    is_static: bool
    """Whether it has an account of its own for good."""
    amount_received: Decimal
    """The sum of its payments, less those that were reversed."""
    amount_outstanding: Decimal
    """The amount that it still asks for; 0 once closed."""
    payments_count: int
    """How many payments came in through the link."""
    payment_condition: list[LinkCondition]
    """Everything that was unusual about its payments."""
    expires_at: Timestamp | None
    """From then on nobody is asked to pay; null: never."""
    created_at: Timestamp
    updated_at: Timestamp
