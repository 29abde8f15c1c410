"""Rules of API keys: pure decisions."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from tillhouse.access.scopes import GRANTERS, Scopes
from tillhouse.developer.types import Environment, KeyPatch, NewKey, NewWithdrawalPolicy
from tillhouse.kit.errors import (
    FieldError,
    Forbidden,
    LimitReached,
    Refused,
    Unauthenticated,
    unknown,
)
from tillhouse.kit.money import check_scale
from tillhouse.kit.network import covers, parse_networks
from tillhouse.kit.partial import faults, made
from tillhouse.kit.values import DateOrTimestamp

KEYS_MAX = 10
APPS_MAX = 100


class BusinessFacts(msgspec.Struct, frozen=True):
    """Facts about the business that the rules need."""

    currency: str
    time_zone: str


class KeyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A key as it is to be stored."""

    name: str
    environment: Environment
    scopes: list[str]
    allowed_origins: list[str]
    allowed_ip_ranges: list[str]
    expires_at: datetime | None
    withdrawal_policy: dict[str, Any] | None


def new_key(new: NewKey, business: BusinessFacts) -> KeyFacts:
    """A key as asked for; whether it may be is for `key_faults`."""
    return made(
        KeyFacts,
        {
            "name": lambda: new.name,
            "environment": lambda: new.environment,
            "scopes": lambda: _unique(new.scopes),
            "allowed_origins": lambda: _unique(new.allowed_origins or []),
            "allowed_ip_ranges": lambda: _unique(new.allowed_ip_ranges or []),
            "expires_at": lambda: _moment(new.expires_at, business),
            "withdrawal_policy": lambda: _stored(new.withdrawal_policy),
        },
    )


def changed_key(old: KeyFacts, patch: KeyPatch, business: BusinessFacts) -> KeyFacts:
    """A key as it would be after a change."""

    def after(name: str, meaning: Callable[[Any], Any]) -> Callable[[], Any]:
        def part() -> Any:
            asked = getattr(patch, name)
            return getattr(old, name) if asked is UNSET else meaning(asked)

        return part

    return made(
        KeyFacts,
        {
            "name": after("name", str),
            "environment": lambda: old.environment,
            "scopes": after("scopes", _unique),
            "allowed_origins": after("allowed_origins", _unique),
            "allowed_ip_ranges": after("allowed_ip_ranges", _unique),
            "expires_at": after("expires_at", lambda asked: _moment(asked, business)),
            "withdrawal_policy": after("withdrawal_policy", _stored),
        },
    )


def is_wider(old: KeyFacts, new: KeyFacts, scopes: Scopes) -> bool:
    """Whether a changed key may do more than before, or may do it from more places."""
    return (
        bool(scopes.granted(new.scopes) - scopes.granted(old.scopes))
        or _opens(old.allowed_origins, new.allowed_origins)
        or _opens(old.allowed_ip_ranges, new.allowed_ip_ranges, _is_within)
    )


def _opens(
    old: list[str], new: list[str], is_covered: Callable[[str, list[str]], bool] | None = None
) -> bool:
    """Whether a list became wider; an empty one lets in all."""
    if not old:
        return False
    covered = is_covered or (lambda entry, entries: entry in entries)
    return not new or not all(covered(entry, old) for entry in new)


def _is_within(entry: str, entries: list[str]) -> bool:
    return covers(parse_networks(entries), parse_networks([entry])[0])


def check_grantable(role: str | None, names: Iterable[str], scopes: Scopes) -> None:
    """The caller makes no key with scopes that only others may grant, nor reads its secret."""
    beyond = scopes.beyond(role, names) if role is not None else []
    if role is None:
        raise Unauthenticated("This session has ended: log in again.")
    if beyond:
        guarded = scopes.guarded()
        granters = [one for one in GRANTERS if all(one in guarded[name] for name in beyond)]
        raise Forbidden(
            f"Your role ({role}) may not make, widen, rotate or view a key with "
            f"{', '.join(beyond)}: ask the {' or an '.join(granters)} of the business. "
            "You may revoke it."
        )


def is_narrowing(old: KeyFacts, new: KeyFacts, patch: KeyPatch, scopes: Scopes) -> bool:
    """Whether a change does nothing but take rights away."""
    is_longer = new.expires_at != old.expires_at and (
        new.expires_at is None or (old.expires_at is not None and new.expires_at > old.expires_at)
    )
    return (
        new.name == old.name
        and not patch.withdrawal_policy
        and not is_longer
        and not is_wider(old, new, scopes)
    )


def key_faults(
    asked: NewKey | KeyPatch,
    facts: KeyFacts,
    business: BusinessFacts,
    scopes: Scopes,
    now: datetime,
) -> list[FieldError]:
    """Every reason against the key that would come of it."""
    return faults(
        lambda: _expiry_errors(asked, facts, now),
        lambda: _policy_errors(asked.withdrawal_policy, business),
        lambda: _address_errors(facts, scopes),
        lambda: _withdrawal_errors(facts, scopes),
    )


def account_errors(ids: Sequence[UUID], known: Collection[UUID]) -> Iterator[FieldError]:
    """A policy names payout accounts of its own book: another's would never be paid out to."""
    for index, account_id in enumerate(ids):
        if account_id not in known:
            field = f"withdrawal_policy.allowed_payout_account_ids[{index}]"
            yield unknown(field, "payout account")


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


def _address_errors(facts: KeyFacts, scopes: Scopes) -> Iterator[FieldError]:
    writes = scopes.finance_writes(facts.scopes)
    if facts.environment == "live" and writes and not facts.allowed_ip_ranges:
        yield FieldError(
            "allowed_ip_ranges",
            f"is required for a live key with {', '.join(writes)}: "
            "name the addresses that it is used from",
        )


def _withdrawal_errors(facts: KeyFacts, scopes: Scopes) -> Iterator[FieldError]:
    withdrawals = scopes.withdrawals(facts.scopes)
    if withdrawals and facts.withdrawal_policy is None:
        yield FieldError("withdrawal_policy", f"is required with {', '.join(withdrawals)}")


def _expiry_errors(
    asked: NewKey | KeyPatch, facts: KeyFacts, now: datetime
) -> Iterator[FieldError]:
    is_named = asked.expires_at is not UNSET
    if is_named and facts.expires_at is not None and facts.expires_at <= now:
        yield FieldError("expires_at", "must be in the future")


def _moment(asked: DateOrTimestamp | None, business: BusinessFacts) -> datetime | None:
    return asked.ends_at(business.time_zone) if asked else None


def _policy_errors(
    policy: NewWithdrawalPolicy | UnsetType | None, business: BusinessFacts
) -> list[FieldError]:
    if not policy:
        return []
    return faults(
        lambda: _currency_errors(policy, business),
        lambda: _amount_errors(policy, "max_per_transaction", business),
        lambda: _amount_errors(policy, "max_per_day", business),
        lambda: _order_errors(policy),
    )


def _currency_errors(policy: NewWithdrawalPolicy, business: BusinessFacts) -> Iterator[FieldError]:
    if policy.currency != business.currency:
        yield FieldError(
            "withdrawal_policy.currency", f"must be {business.currency}, the business's"
        )


def _amount_errors(
    policy: NewWithdrawalPolicy, name: str, business: BusinessFacts
) -> Iterator[FieldError]:
    amount = getattr(policy, name)
    if amount <= 0:
        yield FieldError(f"withdrawal_policy.{name}", "must be more than 0")
    elif wrong := check_scale(amount, business.currency):
        yield FieldError(f"withdrawal_policy.{name}", wrong)


def _order_errors(policy: NewWithdrawalPolicy) -> Iterator[FieldError]:
    if 0 < policy.max_per_day < policy.max_per_transaction:
        yield FieldError("withdrawal_policy.max_per_transaction", "must not exceed max_per_day")


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
