"""Forms: their fields, and the proof that they are ours and of this session."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from secrets import token_bytes
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import msgspec

from tillhouse.http.raw import RawRequest
from tillhouse.kit.errors import Forbidden, Invalid
from tillhouse.kit.secrets import digest, same
from tillhouse.kit.text import unfit

BYTES_MAX = 64 * 1024
FIELDS_MAX = 1_000
# Fields of the desk itself, which no operation sees.
CSRF, MADE_FOR = "csrf", "made_for"
# Fields that a form has besides its own while somebody signs in, or proves the password, for it.
SIGN_IN_EMAIL, SIGN_IN_PASSWORD = "sign_in_email", "sign_in_password"
STEP_UP_EMAIL, STEP_UP_PASSWORD = "step_up_email", "step_up_password"
# The operation that the password is asked for.
STEP_UP_FOR = "step_up_for"
# The second step of signing in: the sealed password of the first one, and the code.
TICKET, CODE = "sign_in_ticket", "sign_in_code"
# The sealed secrets of the page's own form.
CARRIED_SECRETS = "carried_secrets"
# A field of this name says that the one named behind it is a password field: no value of it is
# ever written into a page.
_FOR_SECRETS = "is_secret."
OWN = frozenset({
    CSRF, SIGN_IN_EMAIL, SIGN_IN_PASSWORD, TICKET, CODE, STEP_UP_EMAIL, STEP_UP_PASSWORD,
    STEP_UP_FOR,
})  # fmt: skip


class MadeFor(msgspec.Struct, frozen=True):
    """The person, the business and the book that a form was made for."""

    user: str
    business: str
    book: str

    @property
    def text(self) -> str:
        """The value of the field."""
        return f"{self.user} {self.business} {self.book}"

    @classmethod
    def read(cls, text: str | None) -> "MadeFor | None":
        """The parts of the field; None when it is not there, or not ours."""
        parts = (text or "").split(" ")
        return cls(*parts) if len(parts) == 3 else None


class Form(Mapping[str, str]):
    """The fields of a form as they were sent; of a name that is there twice, the last by name."""

    def __init__(
        self, pairs: list[tuple[str, str]], secret_names: frozenset[str] = frozenset()
    ) -> None:
        self.pairs = pairs
        # The names of its password fields.
        self.secret_names = secret_names
        self._values = dict(pairs)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def all(self, name: str) -> list[str]:
        """Every value of a name."""
        return [value for own, value in self.pairs if own == name]


def read(body: bytes) -> Form:
    """The fields of a form that was sent as browsers do."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=FIELDS_MAX
        )
    except ValueError:
        raise Invalid.field("body", "must be a form in UTF-8 with at most 1000 fields") from None
    for name, value in pairs:
        if reason := unfit(name) or unfit(value):
            raise Invalid.field(name[:100], reason)
    marks = {name for name, _ in pairs if name.startswith(_FOR_SECRETS)}
    return Form(
        [field for field in pairs if field[0] not in marks],
        frozenset(mark.removeprefix(_FOR_SECRETS) for mark in marks),
    )


def check_origin(request: RawRequest, public_url: str) -> None:
    """Refuse a form of another site: browsers tell where a request comes from."""
    site = request.header("sec-fetch-site")
    if site is not None:
        is_own = site in ("same-origin", "none")
    else:
        is_own = _is_own(request.header("origin"), request.header("host"), public_url)
    if not is_own:
        raise Forbidden("This form came from another site. Open the page here, and send it again.")


def _is_own(origin: str | None, host: str | None, public_url: str) -> bool:
    """Whether an origin is this host, or the public address where a proxy names another host."""
    try:
        netloc = urlsplit(origin or "").netloc
        return bool(netloc) and netloc in (host, urlsplit(public_url).netloc)
    except ValueError:
        return False


def proof(pepper: bytes, session_id: UUID) -> str:
    """The proof that a form is of this session, masked anew in each page.

    So a page that is compressed doesn't tell it by its length.
    """
    mask = token_bytes(32)
    return base64.urlsafe_b64encode(mask + _xor(mask, _expected(pepper, session_id))).decode()


def is_proof(pepper: bytes, session_id: UUID, text: str) -> bool:
    """Whether a form has the proof of this session."""
    try:
        raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return False
    return len(raw) == 64 and same(_xor(raw[:32], raw[32:]), _expected(pepper, session_id))


def _expected(pepper: bytes, session_id: UUID) -> bytes:
    return digest(pepper, f"forms of {session_id}")


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
