"""Rules for connecting payment providers: pure decisions."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from tillhouse.kit.errors import FieldError, Forbidden, Refused, Unavailable
from tillhouse.kit.secrets import Environment
from tillhouse.payins.connecting.types import ProviderChange

_HINT_LENGTH = 4


class PeopleOnly(
    Forbidden,
    message="Payment providers of the live environment are changed by people, logged in and after "
    "POST /api/auth/verify-password: an API key may only read them.",
):
    """A key that leaks must not have the money of the business collected elsewhere."""


class NotAccepted(
    Refused, message="The provider refuses these secrets: copy them from its dashboard again."
):
    """A provider says that the secrets are not good."""


class NotChecked(
    Unavailable, message="The provider didn't answer, so nothing was changed: try again shortly."
):
    """The secrets could not be checked."""


class ProviderNotConnected(
    Refused, message="The provider is not connected: send its secrets with the request."
):
    """There are no secrets to check or to select."""


def provider_errors(
    change: ProviderChange, environment: Environment, known: Collection[str]
) -> Iterator[FieldError]:
    """Test books have the sandbox, live books the others."""
    if environment == "test" and change.provider != "sandbox":
        yield FieldError("provider", "must be sandbox in the test environment")
    elif environment == "live" and change.provider not in known:
        yield FieldError("provider", f"must be one of {', '.join(sorted(known))}")


def secrets_errors(
    change: ProviderChange,
    wanted: Sequence[str],
    test_prefixes: Sequence[str],
    shortest: Mapping[str, int],
) -> Iterator[FieldError]:
    """Every secret that the provider needs, whole, and no other; in a live book none for tests."""
    if change.secrets is None or not isinstance(change.secrets, dict):
        return
    for name in wanted:
        if name not in change.secrets:
            yield FieldError(f"secrets.{name}", f"is required for {change.provider}")
    for name, value in sorted(change.secrets.items()):
        if name in wanted and str(value).lower().startswith(tuple(test_prefixes)):
            yield FieldError(f"secrets.{name}", "is a test key: a live book takes live ones")
        elif len(value) < (least := shortest.get(name, 1)):
            wrong = f"must have at least {least} characters: copy all of it from the dashboard"
            yield FieldError(f"secrets.{name}", wrong)
    for name in sorted(set(change.secrets) - set(wanted)):
        yield FieldError(f"secrets.{name[:100]}", f"is nothing that {change.provider} needs")


def hint(secrets: dict[str, str], names: Sequence[str]) -> str | None:
    """The end of the first secret, by which people know it again; nothing of a short one."""
    first = secrets[names[0]] if names else ""
    return f"…{first[-_HINT_LENGTH:]}" if len(first) >= 4 * _HINT_LENGTH else "…"
