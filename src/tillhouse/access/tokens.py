"""Access tokens: one algorithm, one issuer, one audience, and a session that must still stand."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import jwt
import msgspec

from tillhouse.kit.errors import Unauthenticated
from tillhouse.kit.ids import BusinessId, UserId
from tillhouse.kit.secrets import same

LIFETIME = timedelta(minutes=15)
_ALGORITHM = "HS256"
_ISSUER = "tillhouse"
_AUDIENCE = "tillhouse-dashboard"
_LENGTH_MAX = 2048
_UNREADABLE = (ValueError, TypeError, AttributeError, OverflowError, OSError, RecursionError)
_REQUIRED = ["iss", "aud", "sub", "sid", "bid", "iat", "exp"]


class Claims(msgspec.Struct, frozen=True):
    """The user and session that a token names."""

    user_id: UserId
    session_id: UUID
    business_id: BusinessId


class Tokens:
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
        # One token, one text: no odd types, further claims or loose base64 beside what we write.
        if not same(again, token):
            raise Unauthenticated
        return claims
