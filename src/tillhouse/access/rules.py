"""May this caller do this? Facts in, a refusal or nothing out."""

from datetime import datetime, timedelta

from tillhouse.access.callers import Allowance, KeyCaller, UserCaller
from tillhouse.kit.errors import (
    Forbidden,
    Limited,
    PasswordVerificationRequired,
    SecondFactorSetupRequired,
    SubscriptionRequired,
)
from tillhouse.kit.network import Address, contains, origin_allowed

STEP_UP_LASTS = timedelta(minutes=15)


def check_address(caller: KeyCaller, address: Address | None) -> None:
    """A key with IP ranges is good from these only; an unreadable address is from nowhere."""
    if caller.allowed_networks and (
        address is None or not contains(caller.allowed_networks, address)
    ):
        raise Forbidden("This API key may not be used from this address")


def check_origin(caller: KeyCaller, origin: str | None) -> None:
    """A key with origins is good for browsers on these; servers send no Origin."""
    if origin and caller.allowed_origins and not origin_allowed(origin, caller.allowed_origins):
        raise Forbidden("This API key may not be used from this origin")


def check_rate(allowance: Allowance | None) -> None:
    """One request too many waits."""
    if allowance is not None and not allowance.is_allowed:
        raise Limited(retry_after_s=allowance.retry_after_s)


def check_scope(scopes: frozenset[str], wanted: str) -> None:
    """The caller needs this scope or one that grants it."""
    if wanted not in scopes:
        raise Forbidden(f"This needs the scope {wanted}: use a key or a login that has it.")


def check_permission(caller: UserCaller, wanted: str) -> None:
    """The caller's role needs this permission."""
    if wanted not in caller.permissions:
        raise Forbidden(f"Your role ({caller.role}) lacks the permission {wanted}")


def check_subscription(caller: UserCaller) -> None:
    """The portal is open to businesses on trial or with API access."""
    if caller.subscription_fault:
        raise SubscriptionRequired(
            f"{caller.subscription_fault}. Ask the operator of this server to renew it, with "
            f"`tillhouse business subscription {caller.business_id} --status active`."
        )


def check_factor(caller: UserCaller) -> None:
    """A person whose role needs a second factor turns it on before all else."""
    if caller.needs_factor:
        raise SecondFactorSetupRequired


def check_step_up(caller: UserCaller, now: datetime) -> None:
    """The password was given in this session a short while ago; a login does not count."""
    verified_at = caller.password_verified_at
    if verified_at is None or now - verified_at > STEP_UP_LASTS:
        raise PasswordVerificationRequired


def subscription_fault(
    status: str, trial_ends_at: datetime | None, api_access: bool, now: datetime
) -> str | None:
    """Say why a subscription doesn't open the portal."""
    if status == "trial":
        if trial_ends_at is None or trial_ends_at <= now:
            return "The trial of this business has ended"
    elif status != "active":
        return f"The subscription of this business is {status.replace('_', ' ')}"
    return None if api_access else "The subscription of this business has no API access"
