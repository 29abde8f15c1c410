"""Whether the settings of a number will do, before a call is made by them."""

import re
from collections.abc import Mapping

from tillhouse.kit.network import literal_of
from tillhouse.providers.telephony.provider import ProviderName, WrongSettings, refuse_unknown
from tillhouse.providers.telephony.sip.trunk import trunk_of
from tillhouse.providers.telephony.targets import ForbiddenAddress, Targets

_OF_TWILIO = ("account_sid", "auth_token", "machine_detection")
_ACCOUNT_SID = re.compile(r"AC[0-9a-fA-F]{32}")


def check_settings(provider: ProviderName, settings: Mapping[str, str], targets: Targets) -> None:
    """Raise `WrongSettings` where no call could be made; names are looked up when it is made."""
    if provider == "sip":
        _check_trunk(settings, targets)
    elif provider == "twilio":
        _check_account(settings)


def _check_trunk(settings: Mapping[str, str], targets: Targets) -> None:
    trunk = trunk_of(settings)
    if trunk.host is None:
        raise WrongSettings("host", "must be there: the provider's server")
    if literal_of(trunk.host) is not None and not targets.may_be(trunk.host):
        raise WrongSettings("host", f"must not be {ForbiddenAddress()}")


def _check_account(settings: Mapping[str, str]) -> None:
    refuse_unknown(settings, _OF_TWILIO)
    if not _ACCOUNT_SID.fullmatch(settings.get("account_sid", "")):
        raise WrongSettings("account_sid", "must be AC and 32 hexadecimal digits")
    if not settings.get("auth_token"):
        raise WrongSettings("auth_token", "must be there: it opens the account")
    if settings.get("machine_detection", "off") not in ("on", "off"):
        raise WrongSettings("machine_detection", "must be on or off")
