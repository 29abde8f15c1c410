"""Rules of links that set another password: pure decisions."""

import re
from datetime import datetime, timedelta

import msgspec

from tillhouse.access.attempt_rules import Budget
from tillhouse.kit.errors import Refused

LINK_LASTS = timedelta(minutes=30)
# Every one that is mailed is a link that works, until the next may be asked for: so a flood for
# somebody's address takes nothing away.
LINKS_FOR_ADDRESS = Budget(burst=5, every=LINK_LASTS)
LINKS_FROM_NETWORK = Budget(burst=20, every=timedelta(minutes=3))
# A token has 256 random bits; the bound limits look-ups of tokens that don't exist.
WRONG_LINKS = Budget(burst=50, every=timedelta(seconds=36))
TOO_MANY_LINKS = (
    "Too many links were asked for: use the newest that was mailed, or wait a little and ask again."
)
TOO_MANY_WRONG = "Too many wrong links from your network: wait a little, then try again."
_TOKEN = re.compile(r"thpw_[0-9a-f]{64}")


class LinkOver(
    Refused,
    message="This link is over, was used, or a newer one was sent: ask for a new one.",
):
    """The link of a token is over, was used or replaced, or never was."""


class LinkFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The newest link of a person, and the person's password, as they are."""

    digest: bytes | None
    requested_at: datetime | None
    is_used: bool
    link_password_at: datetime | None
    password_changed_at: datetime


def is_token(text: str) -> bool:
    """Whether a text has the form of a token."""
    return _TOKEN.fullmatch(text) is not None


def token_text(digest: bytes) -> str:
    """The token that 256 bits make."""
    return f"thpw_{digest.hex()[:64]}"


def is_to_be_mailed(facts: LinkFacts, digest: bytes, requested_at: datetime, now: datetime) -> bool:
    """Whether the link of a request may still be made, or mailed once more.

    A mail whose sending was interrupted is sent again with the same link, which may have been used
    by then.
    """
    if now >= requested_at + LINK_LASTS or facts.password_changed_at > requested_at:
        return False
    if facts.requested_at is None or facts.requested_at < requested_at:
        return True
    return (
        facts.digest == digest
        and not facts.is_used
        and facts.link_password_at == facts.password_changed_at
    )
