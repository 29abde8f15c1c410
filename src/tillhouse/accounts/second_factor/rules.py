"""Rules of the second factor: which code is whose, and the refusals."""

import base64
import re
from datetime import datetime

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from tillhouse.kit.errors import Conflict, Forbidden, Unauthenticated
from tillhouse.kit.secrets import same

SECRET_BYTES = 20
RECOVERY_CODES = 10
ISSUER = "Tillhouse"
_DIGITS = 6
_STEP_S = 30
# Clocks of telephones are early or late.
_DRIFT = (0, -1, 1)
# Without letters and digits that are read for each other.
RECOVERY_LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
RECOVERY_LENGTH = 12
_GROUP = 4
_CODE = re.compile(rf"[0-9]{{{_DIGITS}}}")

WRONG = "The code is wrong, or was used before: give the one that is shown now."


class SecondFactorRequired(
    Unauthenticated,
    code="second_factor_required",
    message="The password is right. Send it again with the code of your second factor as `code`.",
):
    """The password is right, and the account asks for a code as well."""


class WrongCode(Forbidden, message=WRONG):
    """The code is not one of the secret, or was taken before."""


class AlreadyOn(Conflict, message="Your second factor is on already: turn it off first."):
    """A factor that is on is not replaced in passing."""


class NothingBegun(Conflict, message="No second factor waits for its first code: begin one."):
    """There is no secret that waits to be confirmed."""


class FactorNeeded(
    Conflict,
    message="Your role needs a second factor, so it stays on: an owner says which roles need one.",
):
    """A factor that a role needs is not turned off."""


class NotOn(Conflict, message="Your second factor is not on."):
    """There is no factor that is on."""


def check_off(*, is_required: bool) -> None:
    """A factor stays on as long as a role of its person needs one."""
    if is_required:
        raise FactorNeeded


def check_owner(role: str | None) -> None:
    """Which roles need a second factor is for owners to say."""
    if role != "owner":
        raise Forbidden("Only an owner says which roles need a second factor.")


def secret_text(secret: bytes) -> str:
    """The secret as people type it into an application."""
    return base64.b32encode(secret).decode()


def address_of(secret: bytes, email: str) -> str:
    """The address that an application reads from a picture."""
    return _totp(secret).get_provisioning_uri(email, ISSUER)


def code_at(secret: bytes, moment: datetime) -> str:
    """The code that an application shows at a moment."""
    return _totp(secret).generate(int(moment.timestamp())).decode()


def step_of(secret: bytes, code: str, moment: datetime) -> int | None:
    """The step whose code this is, at most one off; None when it is none of them."""
    totp, now = _totp(secret), int(moment.timestamp()) // _STEP_S
    found = [
        now + off for off in _DRIFT if same(totp.generate((now + off) * _STEP_S).decode(), code)
    ]
    return found[0] if found else None


def compact(given: str) -> str:
    """A code in capitals, without the signs between its parts."""
    return re.sub(r"[\s-]", "", given).upper()


def is_of_application(code: str) -> bool:
    """Whether a code has the form of those that an application shows."""
    return _CODE.fullmatch(code) is not None


def grouped(code: str) -> str:
    """A recovery code as it is told."""
    return "-".join(code[at : at + _GROUP] for at in range(0, len(code), _GROUP))


def _totp(secret: bytes) -> TOTP:
    # Every application supports SHA-1; HMAC doesn't rest on its collisions.
    return TOTP(secret, _DIGITS, SHA1(), _STEP_S)  # noqa: S303
