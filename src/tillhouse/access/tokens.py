"""Access tokens: one algorithm, one issuer, one audience, and a session that must still stand.

Refresh tokens name a session and a generation, under a keyed digest. So nothing is kept of those
that were spent, each is recognised as such, and the successor of one is always the same.
"""

import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import jwt
import msgspec

from tillhouse.kit.errors import Unauthenticated
from tillhouse.kit.ids import BusinessId, UserId
from tillhouse.kit.secrets import digest, same

LIFETIME = timedelta(minutes=15)
_ALGORITHM = "HS256"
_ISSUER = "tillhouse"
_AUDIENCE = "tillhouse-dashboard"
_LENGTH_MAX = 2048
_UNREADABLE = (ValueError, TypeError, AttributeError, OverflowError, OSError, RecursionError)
_REFRESH = re.compile(r"thrt_([0-9a-f]{32})([0-9a-f]{8})([0-9a-f]{64})")
_REQUIRED = ["iss", "aud", "sub", "sid", "bid", "iat", "exp"]


class Claims(msgspec.Struct, frozen=True):
    """The user and session that a token names."""

    user_id: UserId
    session_id: UUID
    business_id: BusinessId


class AccessTokens:
    """Signs and reads access tokens."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, claims: Claims, now: datetime) -> str:
        """A token for a session, good for a quarter of an hour."""
        payload = {
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "sub": str(claims.user_id),
            "sid": str(claims.session_id),
            "bid": str(claims.business_id),
            "iat": int(now.timestamp()),
            "exp": int((now + LIFETIME).timestamp()),
        }
        return jwt.encode(payload, self._key, algorithm=_ALGORITHM)

    def read(self, token: str) -> Claims:
        """The claims of a token that we signed and that has not expired."""
        if len(token) > _LENGTH_MAX:
            raise Unauthenticated
        try:
            if set(jwt.get_unverified_header(token)) != {"alg", "typ"}:
                raise Unauthenticated
            payload = jwt.decode(
                token,
                self._key,
                algorithms=[_ALGORITHM],
                audience=_AUDIENCE,
                issuer=_ISSUER,
                options={"require": _REQUIRED, "strict_aud": True},
            )
            claims = Claims(
                UserId(UUID(hex=payload["sub"])),
                UUID(hex=payload["sid"]),
                BusinessId(UUID(hex=payload["bid"])),
            )
            again = self.sign(claims, datetime.fromtimestamp(payload["iat"], UTC))
        except (jwt.PyJWTError, *_UNREADABLE) as error:
            raise Unauthenticated from error
        # One token, one text: no odd types, further claims or loose base64 beside our own form.
        if not same(again, token):
            raise Unauthenticated
        return claims

    def refresh_token(self, session_id: UUID, generation: int) -> str:
        """The refresh token of a session in its generation."""
        named = f"{session_id.hex}{generation:08x}"
        return f"thrt_{named}{digest(self._key, f'refresh {named}').hex()}"

    def read_refresh(self, token: str) -> tuple[UUID, int] | None:
        """The session and the generation of a refresh token that we made."""
        match = _REFRESH.fullmatch(token[:_LENGTH_MAX])
        if match is None:
            return None
        session_id, generation = UUID(hex=match[1]), int(match[2], 16)
        is_ours = same(self.refresh_token(session_id, generation), token)
        return (session_id, generation) if is_ours else None
