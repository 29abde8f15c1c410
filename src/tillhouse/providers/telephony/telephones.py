"""The telephones of this installation, by the provider of the numbers that call with them."""

from collections.abc import Mapping

from tillhouse.providers.telephony.provider import ProviderName, Telephone
from tillhouse.providers.telephony.simulator.telephone import Simulator
from tillhouse.providers.telephony.sip.telephone import SipTelephone
from tillhouse.providers.telephony.targets import Targets
from tillhouse.settings import Settings


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
