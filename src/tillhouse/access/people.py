"""People by the session that they act in: behind a token, or behind the cookie of a browser."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from secrets import token_urlsafe
from uuid import UUID

import structlog
from asyncpg import Record

from tillhouse.access import rules
from tillhouse.access.callers import Books, OwnBusiness, UserCaller
from tillhouse.access.process import Services
from tillhouse.access.scopes import PERMISSIONS
from tillhouse.access.store import sessions
from tillhouse.access.tokens import Claims
from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Db
from tillhouse.kit.errors import Unavailable
from tillhouse.kit.secrets import digest

log = structlog.get_logger()

# The session of a browser ends when it wasn't used for so long.
IDLE = timedelta(hours=12)
# How much later its end must be for it to be written down: not with every page.
_STEP = timedelta(minutes=5)
# How long a cookie is good after it was renewed.
_GRACE = timedelta(seconds=30)
# An address that opens a session by one click is good for so long, and once.
OPENING_LASTS = timedelta(minutes=10)
_COOKIE_BYTES = 32
# A longer text is none of ours.
_COOKIE_LENGTH_MAX = 64


async def person_by_claims(services: Services, claims: Claims, now: datetime) -> UserCaller | None:
    """The person behind an access token, while the session that it names stands."""
    async with services.pool.reading() as db:
        row = await sessions.find_session(
            db, claims.session_id, claims.user_id, claims.business_id, now
        )
    return _person(services, row, now) if row else None


async def person_by_cookie(
    services: Services, secret: str, now: datetime, *, is_use: bool = True
) -> UserCaller | None:
    """The person behind the cookie of a browser; the session goes on where it is in use."""
    if len(secret) > _COOKIE_LENGTH_MAX:
        return None
    digest = _cookie_digest(services, secret)
    async with services.pool.reading() as db:
        row = await sessions.find_session_by_cookie(db, digest, now, now - _GRACE)
    if row is None:
        return None
    if is_use and row["expires_at"] < now + IDLE - _STEP:
        await _prolong(services, row["id"], now)
    return _person(services, row, now)


async def people_of_sessions(
    services: Services, session_ids: Sequence[UUID], now: datetime
) -> dict[UUID, UserCaller]:
    """The people behind those of these sessions that stand; looking on prolongs none."""
    async with services.pool.reading() as db:
        rows = await sessions.list_standing(db, session_ids, now)
    return {row["id"]: _person(services, row, now) for row in rows}


async def _prolong(services: Services, session_id: UUID, now: datetime) -> None:
    try:
        async with services.pool.transaction() as db:
            await sessions.update_cookie_end(db, session_id, now, now + IDLE)
    except (*FAILURES, Unavailable) as error:
        # The disk is full, perhaps, or nothing may be written: pages can be read all the same.
        log.warning("session_not_prolonged", error=str(error)[:200])


async def give_cookie(
    services: Services, db: Db, session_id: UUID, device: str, now: datetime
) -> str | None:
    """The cookie of a session from now on; None when it has ended."""
    secret, new = _new_cookie(services, device, now)
    return secret if await sessions.update_cookie(db, session_id, new, now) else None


async def renew_cookie(
    services: Services, db: Db, old: str, device: str, now: datetime, *, keeps_old: bool
) -> str | None:
    """Another cookie in the place of one; None when that was renewed meanwhile, or has ended.

    The one before is kept for a moment where pages may be under way with it.
    """
    secret, new = _new_cookie(services, device, now)
    was = _cookie_digest(services, old)
    renewed = await sessions.update_cookie_of(db, was, new, now, keeps_old=keeps_old)
    return secret if renewed else None


async def give_opening(services: Services, db: Db, session_id: UUID, now: datetime) -> str | None:
    """The secret of an address that opens this session in one browser, once, within minutes."""
    secret = token_urlsafe(_COOKIE_BYTES)
    opening = sessions.Cookie(_opening_digest(services, secret), now + OPENING_LASTS, "")
    return secret if await sessions.update_cookie(db, session_id, opening, now) else None


async def take_opening(
    services: Services, db: Db, secret: str, device: str, now: datetime
) -> str | None:
    """The cookie of the session that an address opens; None when it was used or is too old."""
    if len(secret) > _COOKIE_LENGTH_MAX:
        return None
    cookie, new = _new_cookie(services, device, now)
    was = _opening_digest(services, secret)
    opened = await sessions.update_cookie_of(db, was, new, now, keeps_old=False)
    return cookie if opened else None


def _new_cookie(services: Services, device: str, now: datetime) -> tuple[str, sessions.Cookie]:
    secret = token_urlsafe(_COOKIE_BYTES)
    return secret, sessions.Cookie(_cookie_digest(services, secret), now + IDLE, device)


def _cookie_digest(services: Services, secret: str) -> bytes:
    return digest(services.vault.pepper, f"cookie {secret}")


def _opening_digest(services: Services, secret: str) -> bytes:
    return digest(services.vault.pepper, f"opening {secret}")


def _person(services: Services, row: Record, now: datetime) -> UserCaller:
    return UserCaller(
        user_id=row["user_id"],
        session_id=row["id"],
        business_id=row["business_id"],
        books=Books(row["test_book_id"], row["live_book_id"]),
        name=row["name"],
        email=row["email"],
        role=row["role"],
        permissions=PERMISSIONS[row["role"]],
        scopes=services.declared.roles[row["role"]],
        password_verified_at=row["password_verified_at"],
        needs_factor=row["needs_factor"],
        business=OwnBusiness(
            row["business_id"],
            row["business_name"],
            row["business_type"],
            row["currency"],
            row["time_zone"],
        ),
        subscription_fault=rules.subscription_fault(
            row["subscription_status"], row["trial_ends_at"], row["api_access"], now
        ),
    )
