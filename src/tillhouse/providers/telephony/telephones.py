"""The telephones of this installation, by the provider of their numbers; and its callbacks."""

from collections.abc import Mapping

import msgspec

from tillhouse.providers.telephony.provider import NumberAccount, ProviderName, Telephone
from tillhouse.providers.telephony.simulator.telephone import Simulator
from tillhouse.providers.telephony.sip.telephone import SipTelephone
from tillhouse.providers.telephony.targets import Targets
from tillhouse.providers.telephony.twilio import hooks
from tillhouse.settings import Settings

# The header without which a callback can't be genuine.
SIGNATURES: Mapping[str, str] = {"twilio": hooks.SIGNATURE}
BODY_BYTES_MAX = hooks.BODY_BYTES_MAX


def telephones(settings: Settings) -> Mapping[ProviderName, Telephone]:
    """Those of one process, which closes them when it stops."""
    targets = Targets(settings.voice_allow_targets)
    made: dict[ProviderName, Telephone] = {
        "simulator": Simulator(),
        "sip": SipTelephone(targets=targets),
    }
    if settings.media_url is not None:
        made["twilio"] = _twilio(settings, settings.media_url)
    return made


def _twilio(settings: Settings, media_url: str) -> Telephone:
    # The HTTP client takes a fifth of a second to load.
    from tillhouse.providers.telephony.twilio.media_server import MediaServer  # noqa: PLC0415
    from tillhouse.providers.telephony.twilio.rest import BASE_URL, Rest  # noqa: PLC0415
    from tillhouse.providers.telephony.twilio.telephone import TwilioTelephone  # noqa: PLC0415

    address = dict(settings.provider_urls).get("twilio", BASE_URL)
    media = MediaServer(settings.host, settings.media_port)
    return TwilioTelephone(media, media_url, Rest(address))


class Callback(msgspec.Struct, frozen=True, kw_only=True):
    """A request, as a provider sent it to a public address."""

    provider: str
    url: str
    # Names in lower case.
    headers: Mapping[str, str]
    body: bytes


def is_genuine(callback: Callback, account: NumberAccount) -> bool:
    """Whether it is signed by the account that the call was made with."""
    token = account.settings.get("auth_token", "")
    is_known = callback.provider in SIGNATURES and bool(token)
    return is_known and hooks.verify(callback.url, callback.headers, callback.body, token)


def number_of(body: bytes) -> int | None:
    """The number of a callback among those of its call; None where it tells nothing."""
    update = hooks.parse(body)
    return None if update is None else update.sequence
