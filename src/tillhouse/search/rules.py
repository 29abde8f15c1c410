"""Which kinds of things a caller may find, and by which fields: pure."""

import re
from collections.abc import Mapping
from uuid import UUID

import msgspec

from tillhouse.access.callers import KeyCaller, SystemCaller, UserCaller
from tillhouse.customers.rules import asked, word_query
from tillhouse.http.route import Scope

# As the lists of these things are guarded, in the order of the answer.
GUARDS: Mapping[str, Scope] = {
    "order": Scope("orders:read", roles=("kitchen",)),
    "customer": Scope("customers:read"),
    "product": Scope("products:read"),
    "payment_link": Scope("payment_links:read"),
    "transaction": Scope("finance:transactions:read"),
    "table": Scope("tables:read"),
    "staff": Scope("stores:read"),
}
_CODE = re.compile(r"[0-9A-Za-z_-]+")
# So much of a transaction's reference says which one is meant: all begin alike.
_REFERENCE_MIN = 7


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The meanings of a text; one that it can't have is None."""

    # How a name or a SKU begins.
    text: str
    # How a short code, or a reference, begins.
    code: str | None = None
    reference: str | None = None
    # The same as it was written: references of payment links have both cases.
    link: str | None = None
    # A text search of the words of a name.
    words: str | None = None
    phone: str | None = None
    email: str | None = None


def kinds_of(caller: KeyCaller | UserCaller | SystemCaller) -> list[str]:
    """The kinds that this caller may list."""
    if isinstance(caller, SystemCaller):
        return list(GUARDS)
    role = caller.role if isinstance(caller, UserCaller) else None
    return [
        kind for kind, guard in GUARDS.items() if guard.name in caller.scopes or role in guard.roles
    ]


def id_of(text: str) -> UUID | None:
    """The id that a text is, if it is one."""
    try:
        return UUID(text) if len(text) == len("00000000-0000-0000-0000-000000000000") else None
    except ValueError:
        return None


def terms_of(text: str, country: str) -> Terms:
    """The meanings of a text, by how it is written."""
    customer = asked(text, country)
    code = text.upper() if _CODE.fullmatch(text) else None
    return Terms(
        text=text,
        code=code,
        reference=code if code and len(code) >= _REFERENCE_MIN else None,
        link=text if code else None,
        words=word_query(text) or None,
        phone=customer.phone_number,
        email=customer.email,
    )
