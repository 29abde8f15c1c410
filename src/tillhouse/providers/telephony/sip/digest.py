"""Digest authentication (RFC 2617, 7616 and 8760): MD5 and SHA-256, with quality `auth`."""

import hashlib
import re
from collections.abc import Iterable

import msgspec

from tillhouse.providers.telephony.sip.grammar import (
    MalformedSip,
    parse_parameters,
    quote,
    split,
)

_SCHEME = re.compile(r"digest\s+(.*)", re.IGNORECASE | re.DOTALL)
_HASHES = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}


class DigestCredentials(msgspec.Struct, frozen=True):
    """The name and password at a trunk."""

    username: str
    password: str

    def __repr__(self) -> str:
        """Keep the password out of logs and tracebacks."""
        return f"Credentials({self.username!r}, …)"


class Challenge(msgspec.Struct, frozen=True, kw_only=True):
    """The question of a server."""

    realm: str
    nonce: str
    opaque: str | None
    # As the server wrote it; absent means MD5 and isn't repeated.
    algorithm: str | None
    has_quality: bool
    is_stale: bool

    @property
    def hash_name(self) -> str:
        """MD5 or SHA-256."""
        return (self.algorithm or "MD5").upper().removesuffix("-SESS")

    @property
    def binds_session(self) -> bool:
        """Whether the nonces are part of the secret's hash."""
        return (self.algorithm or "").upper().endswith("-SESS")


def choose(values: Iterable[str]) -> Challenge | None:
    """The first challenge that we can answer, in the server's order of preference."""
    return next((one for one in map(_parse, values) if one is not None), None)


def _parse(value: str) -> Challenge | None:
    match = _SCHEME.fullmatch(value.strip())
    try:
        given = parse_parameters(split(match[1], ",")) if match else {}
    except MalformedSip:
        return None
    algorithm = given.get("algorithm")
    qualities = [quality.strip().lower() for quality in given.get("qop", "").split(",")]
    knows_quality = "qop" not in given or "auth" in qualities
    hash_name = (algorithm or "MD5").upper().removesuffix("-SESS")
    if not {"realm", "nonce"} <= given.keys() or hash_name not in _HASHES or not knows_quality:
        return None
    return Challenge(
        realm=given["realm"],
        nonce=given["nonce"],
        opaque=given.get("opaque"),
        algorithm=algorithm,
        has_quality="qop" in given,
        is_stale=given.get("stale", "").lower() == "true",
    )


class DigestAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A request that answers a challenge."""

    challenge: Challenge
    method: str
    uri: str
    # How often the nonce was used, this time included; and our own nonce.
    count: int
    own_nonce: str

    def header(self, credentials: DigestCredentials) -> str:
        """The value of Authorization or Proxy-Authorization."""
        challenge = self.challenge
        parts = [
            f"username={quote(credentials.username)}",
            f"realm={quote(challenge.realm)}",
            f"nonce={quote(challenge.nonce)}",
            f"uri={quote(self.uri)}",
            f'response="{self._response(credentials)}"',
        ]
        if challenge.algorithm is not None:
            parts.append(f"algorithm={challenge.algorithm}")
        if challenge.opaque is not None:
            parts.append(f"opaque={quote(challenge.opaque)}")
        if challenge.has_quality or challenge.binds_session:
            parts.append(f"cnonce={quote(self.own_nonce)}")
        if challenge.has_quality:
            parts += ["qop=auth", f"nc={self.count:08x}"]
        return "Digest " + ", ".join(parts)

    def _response(self, credentials: DigestCredentials) -> str:
        challenge = self.challenge
        secret = self._hash(credentials.username, challenge.realm, credentials.password)
        if challenge.binds_session:
            secret = self._hash(secret, challenge.nonce, self.own_nonce)
        request = self._hash(self.method, self.uri)
        if not challenge.has_quality:
            return self._hash(secret, challenge.nonce, request)
        count = f"{self.count:08x}"
        return self._hash(secret, challenge.nonce, count, self.own_nonce, "auth", request)

    def _hash(self, *parts: str) -> str:
        return _HASHES[self.challenge.hash_name](":".join(parts).encode()).hexdigest()
