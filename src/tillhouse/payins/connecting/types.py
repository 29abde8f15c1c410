"""Requests and answers of the routes of payment providers."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.messaging.types import Credential
from tillhouse.providers.payments.provider import ProviderName


class ProviderChange(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A provider that is to be connected, checked, selected or disconnected."""

    provider: ProviderName
    secrets: dict[str, Credential] | UnsetType | None = UNSET
    """The secrets by the names that `secretNames` lists: sealed, and shown by no answer. Left out,
    those that are there stay; null forgets them."""
    selected: bool | UnsetType = UNSET
    """Whether new payments are collected by it; of several selected, each account takes one at
    random. Left out, a provider that is connected for the first time is selected."""
    check: bool = False
    """Ask the provider first whether the secrets are good, and change nothing when they aren't."""


class ProviderAbilities(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The abilities of a payment provider."""

    opens: Literal["account", "page"]
    """An `account` number to transfer to, or a `page` of the provider's to pay on."""
    takes_exact_only: bool
    """Whether it turns other amounts than the one that is due away by itself."""
    refunds: bool
    """Whether payments can be given back by it."""
    payouts: bool
    """Whether money can be withdrawn by it."""
    name_enquiry: bool
    """Whether it tells in whose name an account is held."""
    currencies: list[str] | None
    """The currencies that it collects; null: any."""


class ProviderShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A payment provider as the book uses it; its secrets are shown nowhere."""

    provider: ProviderName
    """The name of the provider."""
    status: Literal["connected", "disconnected"]
    """Whether the book has secrets of it; a test book always has the sandbox."""
    selected: bool
    """Whether new payments are collected by it."""
    hint: Annotated[str, Meta(examples=["…4f2a"])] | None
    """The last characters of its first secret; null: it is not connected, or needs none."""
    hook_url: Annotated[str, Meta(examples=["https://till.example.com/hooks/paystack/0191…"])]
    """The address that the provider must call: set it in the provider's dashboard."""
    secret_names: Annotated[list[str], Meta(examples=[["secret_key"]])]
    """The names of the secrets that connecting it takes."""
    capabilities: ProviderAbilities
    """The abilities of the provider."""
    down_until: Timestamp | None
    """New accounts are opened elsewhere until then, because it didn't answer; null: it does."""
    last_error: str | None
    """Why it counted as down the last time; null: it never did."""
