"""Requests and answers of the routes of the suppression list."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.page import Paged
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.text import Paragraphs

SuppressionReason = Literal["manual", "opt_out", "unwanted"]


class SuppressionNote(Paragraphs, longest=500, example="Asked in the shop not to be called."):
    """Words for people."""


class NewSuppression(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Somebody who is not to be called."""

    phone_number: PhoneText
    """The number that is not called any more."""
    note: SuppressionNote | None = None
    """Why, in words for people."""


class SuppressionFilter(Paged):
    """Which entries of the suppression list, and which page of them."""

    phone_number: PhoneText | None = None
    """Only the entry of this number."""


class Suppression(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Somebody who is not called."""

    id: UUID
    phone_number: Annotated[str, Meta(examples=["+2348030000000"])]
    """The number that is not called."""
    reason: SuppressionReason
    """`manual`: by a person or program; `opt_out`: said so in a call; `unwanted`: the network
    said so."""
    note: str | None
    """Why, in words for people."""
    call_id: UUID | None
    """The call in which that was said; null: in none."""
    created_by: Annotated[str, Meta(examples=["Ada Okafor"])]
    """The name of the person, key or agent that added it."""
    created_at: Timestamp
