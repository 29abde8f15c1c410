"""Credentials: their texts, how they are recognised, hashed, sealed, compared; signatures."""

import base64
import hashlib
import hmac
import re
import secrets
import zlib
from typing import Literal, NamedTuple, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tillhouse.kit.ids import BASE62, random_base62, random_text

Environment = Literal["test", "live"]

_NAME_LENGTH = 12
_SECRET_BITS = 256
_SHOWN_LENGTH = 4
_CHECK_LENGTH = 6
_NONCE_LENGTH = 12

_PUBLIC = re.compile(r"thpk_(test|live)_([0-9A-Za-z]{12})")
_SECRET = re.compile(r"thsk_(test|live)_([0-9A-Za-z]{12})_[0-9A-Za-z]{43}([0-9A-Za-z]{6})")
_KEY_LENGTH = len("thsk_test_") + _NAME_LENGTH + len("_") + 43 + _CHECK_LENGTH


class KeyText(NamedTuple):
    """Both halves of a new API key; the secret is shown once."""

    public: str
    secret: str

    def __repr__(self) -> str:
        """Keep the secret out of logs and tracebacks."""
        return f"KeyText(public={self.public!r}, secret=…)"


class ParsedKey(NamedTuple):
    """The parts of a well-formed secret; whether it exists, only the database knows."""

    environment: Environment
    public: str


class SealBroken(Exception):
    """Sealed bytes were changed, or the key or the associated data is another."""


def new_api_key(environment: Environment) -> KeyText:
    """Make a new pair of public key and secret."""
    public = f"thpk_{environment}_{random_text(BASE62, _NAME_LENGTH)}"
    return KeyText(public, new_secret(environment, public))


def new_secret(environment: Environment, public: str) -> str:
    """Make a new secret for a public key that stays, as rotation needs it."""
    match = _PUBLIC.fullmatch(public)
    if match is None or match[1] != environment:
        raise ValueError(f"not a public key of the {environment} environment")
    body = f"thsk_{environment}_{match[2]}_{random_base62(_SECRET_BITS)}"
    return body + _checksum(body)


def parse_api_key(text: str) -> ParsedKey | None:
    """Recognise a secret by form and checksum, so that a typo costs no database lookup."""
    if len(text) != _KEY_LENGTH:
        return None
    match = _SECRET.fullmatch(text)
    if match is None or _checksum(text[:-_CHECK_LENGTH]) != match[3]:
        return None
    return ParsedKey(cast("Environment", match[1]), f"thpk_{match[1]}_{match[2]}")


def secret_prefix(secret: str) -> str:
    """Cut a secret to the part that may be shown: the public part and four characters."""
    return secret[: len("thsk_test_") + _NAME_LENGTH + len("_") + _SHOWN_LENGTH]


def new_webhook_secret() -> str:
    """Make a signing secret in the form that Standard Webhooks libraries take."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode("ascii")


def digest(pepper: bytes, secret: str) -> bytes:
    """Hash a random secret for lookup: HMAC-SHA256, useless without the pepper."""
    return hmac.digest(pepper, _bytes(secret), hashlib.sha256)


def derive(root: bytes, purpose: str, length: int = 32) -> bytes:
    """Derive the key of one purpose from a root key by HKDF-SHA256."""
    return HKDF(SHA256(), length, salt=None, info=_bytes(purpose)).derive(root)


def seal(key: bytes, plaintext: bytes, associated: bytes) -> bytes:
    """Encrypt with AES-256-GCM, bound to the associated data; the nonce comes first."""
    nonce = secrets.token_bytes(_NONCE_LENGTH)
    return nonce + _cipher(key).encrypt(nonce, plaintext, associated)


def open_sealed(key: bytes, sealed: bytes, associated: bytes) -> bytes:
    """Decrypt the output of `seal` with the same key and associated data, or raise SealBroken."""
    cipher = _cipher(key)
    nonce, ciphertext = sealed[:_NONCE_LENGTH], sealed[_NONCE_LENGTH:]
    try:
        return cipher.decrypt(nonce, ciphertext, associated)
    except (InvalidTag, ValueError):
        # ValueError: too short to hold a nonce and a tag.
        raise SealBroken("the sealed data can't be opened with this key") from None


def seal_frame(
    key: bytes, plaintext: bytes, associated: bytes, number: int, *, is_last: bool
) -> bytes:
    """Encrypt one of the frames of a stream, under a key that seals this stream alone."""
    return _cipher(key).encrypt(_frame_nonce(number, is_last=is_last), plaintext, associated)


def open_frame(
    key: bytes, sealed: bytes, associated: bytes, number: int, *, is_last: bool
) -> bytes:
    """Decrypt the output of `seal_frame` as that frame of that stream, or raise SealBroken."""
    try:
        return _cipher(key).decrypt(_frame_nonce(number, is_last=is_last), sealed, associated)
    except (InvalidTag, ValueError):
        raise SealBroken("the frame can't be opened with this key at this place") from None


def same(left: str | bytes, right: str | bytes) -> bool:
    """Compare without telling by the time taken where the first difference is."""
    return hmac.compare_digest(_bytes(left), _bytes(right))


def _frame_nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(_NONCE_LENGTH - 1, "big") + (b"\x01" if is_last else b"\x00")


def _cipher(key: bytes) -> AESGCM:
    if len(key) != 32:
        raise ValueError("the key must have 32 bytes")
    return AESGCM(key)


def _checksum(body: str) -> str:
    value = zlib.crc32(body.encode("ascii"))
    digits: list[str] = []
    for _ in range(_CHECK_LENGTH):
        value, digit = divmod(value, len(BASE62))
        digits.append(BASE62[digit])
    return "".join(reversed(digits))


def _bytes(text: str | bytes) -> bytes:
    # Text from outside may hold lone surrogates; a comparison must answer no, not fail.
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def sign(key: bytes, *parts: str) -> str:
    """The signature of some words in this order: HMAC-SHA256, for an address not to be guessed."""
    # A length before each word: no two lists of words make the same text.
    text = "".join(f"{len(part)}:{part}" for part in parts)
    digest = hmac.digest(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def is_signed(key: bytes, given: str, *parts: str) -> bool:
    """Whether this is their signature; the time it takes tells nothing."""
    return same(given, sign(key, *parts))
