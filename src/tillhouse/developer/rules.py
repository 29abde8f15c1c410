"""What a key may be: pure decisions."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET

from tillhouse.access.scopes import WITHDRAWAL, finance_writes
from tillhouse.developer.types import Environment, KeyPatch, NewKey, NewWithdrawalPolicy
from tillhouse.kit.errors import FieldError, Invalid, LimitReached, Refused
from tillhouse.kit.money import check_scale

KEYS_MAX = 10
APPS_MAX = 100


class Business(msgspec.Struct, frozen=True):
    """What the rules need to know of the business."""

    currency: str
    time_zone: str


class KeyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a key is to be, checked as a whole."""

    name: str
    environment: Environment
    scopes: list[str]
    allowed_origins: list[str]
    allowed_ip_ranges: list[str]
    expires_at: datetime | None
    withdrawal_policy: dict[str, Any] | None


def new_key(new: NewKey, business: Business, now: datetime, *, has_app: bool) -> KeyFacts:
    """A key as asked for, or every reason against it."""
    expires_at = new.expires_at.ends_at(business.time_zone) if new.expires_at else None
    errors = _expiry_errors(expires_at, now)
    errors += _policy_errors(new.withdrawal_policy, business)
    if not has_app:
        errors.append(FieldError("developer_app_id", "is no app of this business and environment"))
    facts = KeyFacts(
        name=new.name,
        environment=new.environment,
        scopes=_unique(new.scopes),
        allowed_origins=_unique(new.allowed_origins or []),
        allowed_ip_ranges=_unique(new.allowed_ip_ranges or []),
        expires_at=expires_at,
        withdrawal_policy=_stored(new.withdrawal_policy),
    )
    return _checked(facts, errors)


def changed_key(old: KeyFacts, patch: KeyPatch, business: Business, now: datetime) -> KeyFacts:
    """A key after a change, or every reason against it."""
    errors: list[FieldError] = []
    expires_at = old.expires_at
    if patch.expires_at is not UNSET:
        expires_at = patch.expires_at.ends_at(business.time_zone) if patch.expires_at else None
        errors += _expiry_errors(expires_at, now)
    policy = old.withdrawal_policy
    if patch.withdrawal_policy is not UNSET:
        errors += _policy_errors(patch.withdrawal_policy, business)
        policy = _stored(patch.withdrawal_policy)
    facts = KeyFacts(
        name=old.name if patch.name is UNSET else patch.name,
        environment=old.environment,
        scopes=old.scopes if patch.scopes is UNSET else _unique(patch.scopes),
        allowed_origins=(
            old.allowed_origins
            if patch.allowed_origins is UNSET
            else _unique(patch.allowed_origins)
        ),
        allowed_ip_ranges=(
            old.allowed_ip_ranges
            if patch.allowed_ip_ranges is UNSET
            else _unique(patch.allowed_ip_ranges)
        ),
        expires_at=expires_at,
        withdrawal_policy=policy,
    )
    return _checked(facts, errors)


def check_key_limit(active: int) -> None:
    """A book has so many active keys and no more."""
    if active >= KEYS_MAX:
        raise LimitReached(
            f"This environment has {KEYS_MAX} active API keys, which is the limit: "
            "revoke one that is no longer needed, then try again."
        )


def check_app_limit(apps: int) -> None:
    """A book has so many apps and no more."""
    if apps >= APPS_MAX:
        raise LimitReached(f"This environment has {APPS_MAX} apps, which is the limit.")


def check_not_revoked(revoked_at: datetime | None) -> None:
    """A revoked key is over: nothing about it changes any more."""
    if revoked_at is not None:
        raise Refused("This API key is revoked: create a new one instead.")


def _checked(facts: KeyFacts, errors: list[FieldError]) -> KeyFacts:
    """The rules that look at several fields at once."""
    writes = finance_writes(facts.scopes)
    if facts.environment == "live" and writes and not facts.allowed_ip_ranges:
        errors.append(
            FieldError(
                "allowed_ip_ranges",
                f"is required for a live key with {', '.join(writes)}: "
                "name the addresses that it is used from",
            )
        )
    if WITHDRAWAL in facts.scopes and facts.withdrawal_policy is None:
        errors.append(FieldError("withdrawal_policy", f"is required with {WITHDRAWAL}"))
    if errors:
        raise Invalid(errors)
    return facts


def _expiry_errors(expires_at: datetime | None, now: datetime) -> list[FieldError]:
    if expires_at is not None and expires_at <= now:
        return [FieldError("expires_at", "must be in the future")]
    return []


def _policy_errors(policy: NewWithdrawalPolicy | None, business: Business) -> list[FieldError]:
    if policy is None:
        return []
    errors: list[FieldError] = []
    if policy.currency != business.currency:
        errors.append(
            FieldError("withdrawal_policy.currency", f"must be {business.currency}, the business's")
        )
    for name in ("max_per_transaction", "max_per_day"):
        amount = getattr(policy, name)
        if amount <= 0:
            errors.append(FieldError(f"withdrawal_policy.{name}", "must be more than 0"))
        elif wrong := check_scale(amount, business.currency):
            errors.append(FieldError(f"withdrawal_policy.{name}", wrong))
    if not errors and policy.max_per_transaction > policy.max_per_day:
        errors.append(
            FieldError("withdrawal_policy.max_per_transaction", "must not exceed max_per_day")
        )
    return errors


def _stored(policy: NewWithdrawalPolicy | None) -> dict[str, Any] | None:
    if policy is None:
        return None
    ids = policy.allowed_payout_account_ids
    return {
        "max_per_transaction": policy.max_per_transaction,
        "max_per_day": policy.max_per_day,
        "currency": str(policy.currency),
        "allowed_payout_account_ids": None if ids is None else [str(i) for i in ids],
    }


def _unique(values: list[Any]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values))
